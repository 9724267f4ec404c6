import dataclasses

import numpy as np
import pytest
from saved_checkpoint import N_CTX, save_tiny

from interp import checkpoints
from interp.analyses.loss_by_position import MEAN, loss_by_position
from interp.corpus.sources import TextInput
from interp.corpus.split import Split, document_hash
from interp.errors import InputError
from interp.model import ModelConfig, Transformer
from interp.model.config import LearnedAbsoluteConfig
from interp.studies.position_loss_page import band_tables, position_chart, position_loss_page
from interp.studies.position_losses import position_losses
from interp.studies.reading import increments_of
from interp.studies.study_input import StudyInput
from interp.tables import rows_of

WORDS = "Words that stand in a row, 一个字接着一个字。 "
TEXT = (WORDS * 8).encode()
GIVEN = TextInput(literal=TEXT)


@pytest.fixture(autouse=True, scope="module")
def _cache_of_this_module(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def told(checkpoint, split, name="told"):
    """The checkpoint as if training had left this out."""
    config = checkpoint.config | {"split": str(split)}
    return dataclasses.replace(checkpoint, split=split, config=config, name=name)


def mean_of(table, group):
    (row,) = [r for r in rows_of(table) if (r["group"], r["statistic"]) == (group, MEAN)]
    return row


def test_windows_of_two_lengths_are_kept_apart(tiny):
    folders = []
    for window in (None, N_CTX, 40):
        with increments_of(tiny, GIVEN, signals=("surprisal",), window=window, stride=40) as table:
            assert table.manifest["window"] == (window or N_CTX)
            folders.append(table.folder)
    assert folders[0] == folders[1] != folders[2]


def test_a_study_can_ask_for_a_window(tiny, tmp_path):
    (tmp_path / "en.txt").write_bytes(TEXT)
    with StudyInput(tmp_path, (f"en={tmp_path / 'en.txt'}",)) as given:
        lengths = [
            given.extraction(tiny, "en", ("surprisal",), stride=16, window=window).manifest[
                "window"
            ]
            for window in (None, 32, 100)
        ]
        assert lengths == [N_CTX, 32, 100]


def test_the_length_is_that_of_training_where_none_is_given(tiny):
    found = position_losses([tiny], GIVEN)
    assert (found.length, found.trained) == (N_CTX, (N_CTX,))
    assert found.unit == "nats per byte"
    assert mean_of(found.table, f"positions 0-{N_CTX - 1}")["n"] == len(TEXT)


def test_only_the_end_that_all_have_held_out_is_read(tiny):
    tenth, fifth = (Split(last=last) for last in (0.1, 0.2))
    splits = [
        Split(last=each.last, hashes=frozenset([document_hash(each.end_of(TEXT))]))
        for each in (tenth, fifth)
    ]
    found = position_losses(
        [told(tiny, split, str(index)) for index, split in enumerate(splits)],
        GIVEN,
        length=16,
        is_held_out=True,
    )
    end = tenth.end_of(TEXT)
    assert (found.n_bytes, found.n_documents) == (len(end), 1)
    assert len(found.table) == 2 * (16 * 2 + 1) + 1
    with increments_of(
        tiny, TextInput(literal=end[:]), signals=("surprisal",), window=16, stride=16
    ) as table:
        alone = loss_by_position(table)
    for row in rows_of(alone):
        if row["statistic"] == MEAN and row["value"] is not None:
            (same, _) = [
                r["value"]
                for r in rows_of(found.table)
                if (r["group"], r["statistic"]) == (row["group"], MEAN)
            ]
            assert same == pytest.approx(row["value"], abs=1e-6)


def test_whole_texts_that_were_held_out_are_read_and_others_left(tiny):
    given = TextInput(literal=TEXT, files=())
    knows = told(tiny, Split(hashes=frozenset([document_hash(TEXT)])))
    found = position_losses([knows], given, is_held_out=True)
    assert (found.n_bytes, found.doubts()) == (len(TEXT), [])
    with pytest.raises(InputError, match="nothing of the text is known to have been held out"):
        position_losses([knows, tiny], given, is_held_out=True)


def test_what_is_not_known_to_be_held_out_is_said(tiny):
    knows = told(tiny, Split(hashes=frozenset([document_hash(TEXT)])), "knows")
    (doubt,) = position_losses([knows, tiny], GIVEN, length=16).doubts()
    assert "not known to be held out from the training of tiny:" in doubt


def test_a_learned_table_that_is_shorter_is_named(tiny):
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_mlp": 24, "n_ctx": 16}
    model = Transformer(ModelConfig(**sizes, position=LearnedAbsoluteConfig()))
    learned = dataclasses.replace(tiny, model=model, name="learned")
    with pytest.raises(InputError, match=r"^learned: the model has 16 learned positions"):
        position_losses([tiny, learned], GIVEN, length=64)


def test_models_of_one_name_are_told_apart(tiny):
    found = position_losses([tiny, tiny], GIVEN, length=16)
    assert found.names == ("tiny #1", "tiny #2")
    assert set(found.table["checkpoint"]) == set(found.names)


def test_a_stretched_model_is_compared_with_itself_as_it_is(tmp_path):
    folder = save_tiny(tmp_path / "tiny")
    ways = [checkpoints.load(folder, rope_scaling=way) for way in (None, "ntk:2")]
    found = position_losses(ways, GIVEN)
    assert (found.length, found.trained) == (2 * N_CTX, (N_CTX, N_CTX))
    assert found.names == ("tiny", "tiny (ntk:2)")
    rows = [r for r in rows_of(found.table) if r["statistic"].endswith("difference")]
    assert [r["group"] for r in rows] == ["positions 0-63", "positions 64-127", "positions 0-127"]
    assert all(r["value"] != 0 for r in rows)


def test_the_chart_has_a_curve_per_model_over_its_faint_values_and_marks_the_training_length(tiny):
    found = position_losses([tiny, tiny], GIVEN, length=2 * N_CTX)
    chart = position_chart(
        found.table, trained=dict.fromkeys(found.names, N_CTX), unit=found.unit, key="curves"
    )
    assert f"after {N_CTX} tokens" in chart.note
    assert "an eighth" in chart.note
    for of_mode in chart.figures.values():
        for drawn in of_mode.values():
            shown = [each for each in drawn["data"] if each["showlegend"]]
            faint = [each for each in drawn["data"] if not each["showlegend"]]
            assert [each["name"] for each in shown] == list(found.names)
            assert len({each["line"]["dash"] for each in shown}) == 2
            assert len(faint) == 2
            assert all(each["opacity"] < 0.5 for each in faint)
            assert [shape["x0"] for shape in drawn["layout"]["shapes"]] == [N_CTX - 0.5]
            assert np.allclose(shown[0]["x"], range(2 * N_CTX))


def test_the_page_escapes_what_comes_from_outside(tiny):
    hostile = dataclasses.replace(tiny, name="<b>bold</b>")
    found = position_losses([hostile], GIVEN, length=24)
    page = position_loss_page(found, text="a text", command="interp <i>\x1b")
    assert "<b>bold" not in page
    assert "<i>" not in page
    assert "\x1b" not in page
    assert "not known to be held out" in page
    assert "blocks" in page or "by window" in page
    (table,) = band_tables(found.table, unit=found.unit)
    assert "0-23" in table


def test_of_the_part_that_all_held_out_there_is_no_doubt(tiny):
    """Also where that is shorter than what one of them held out."""
    splits = []
    for last in (0.2, 0.5):
        end = Split(last=last).end_of(TEXT)
        splits.append(Split(last=last, hashes=frozenset({document_hash(end)})))
    models = [told(tiny, split, name=f"last-{split.last}") for split in splits]
    found = position_losses(models, GIVEN, length=16, is_held_out=True)
    assert (found.doubts(), found.n_bytes) == ([], len(splits[0].end_of(TEXT)))
