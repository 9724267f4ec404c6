"""Every study, in the order in which they are to be read."""

from collections.abc import Mapping

from interp.studies import (
    ablation,
    byte_class_study,
    code_study,
    en_delimiters,
    entity_order,
    heads,
    length_extrapolation,
    loss_comparison,
    other_scripts,
    position_encodings,
    position_study,
    rope_scaling,
    training_dynamics,
    zh_boundaries_in_context,
    zh_word_boundaries,
)
from interp.studies.study import Study

STUDIES: Mapping[str, Study] = {
    study.name: study
    for study in (
        loss_comparison.STUDY,
        byte_class_study.STUDY,
        zh_word_boundaries.STUDY,
        zh_boundaries_in_context.STUDY,
        other_scripts.STUDY,
        en_delimiters.STUDY,
        entity_order.STUDY,
        heads.STUDY,
        ablation.STUDY,
        code_study.STUDY,
        position_study.STUDY,
        training_dynamics.STUDY,
        position_encodings.STUDY,
        length_extrapolation.STUDY,
        rope_scaling.STUDY,
    )
}
"""Studies by name."""

FIRST_LOOK = "first-look"
"""The page about the checkpoint that comes with the package."""

PAGES = (FIRST_LOOK, *STUDIES)
"""The pages of ``reports/``, in the order of its index."""
