from pathlib import Path

import pytest
from saved_checkpoint import save_tiny

from interp import tables
from interp.studies.code_study import STUDY
from interp.studies.code_verdicts import ALIKE, SCOPE, isolation_verdict, isolations, token_verdict
from interp.studies.publishing import run_study
from interp.studies.study_input import MissingCheckpoint, StudyInput
from interp.tables import rows_of

SOURCE = "def area(r):\n    return [3.14 * r**2]  # of a circle (round)\n'''\n(\n'''\n"


def means(layers: list[dict[str, tuple[float, float]]], n: int = 500):
    """A table of means, each with the half width of its interval."""
    rows = [
        {
            "checkpoint": "python-per-layer",
            "signal": "increment",
            "statistic": "mean",
            "layer": layer,
            "group": group,
            "n": n,
            "value": value,
            "low": value - half,
            "high": value + half,
        }
        for layer, classes in enumerate(layers)
        for group, (value, half) in classes.items()
    ]
    return tables.analysis_table(rows)


def layer(scope: float, other: float, outside: float = 0.5, half: float = 0.1):
    classes = dict.fromkeys(SCOPE, (scope, half))
    classes |= {"name, first byte": (other, half), "separator": (9.9, half)}
    return classes | dict.fromkeys(ALIKE, (outside, half))


@pytest.mark.parametrize(
    ("layers", "answer"),
    [
        ([layer(1, 2), layer(8, 1)], "Repeated: 8.0 times"),
        ([layer(1, 2), layer(3, 1)], "Repeated in kind: farther than any other class, but 3.00"),
        ([layer(1, 2), layer(1.1, 1)], "Undecided: farther than any other class, but"),
        ([layer(1, 2)], "Not repeated"),
        ([{"open bracket": (8.0, 0.1)}], "Undecided: too little"),
    ],
)
def test_a_layer_isolates_delimiters_if_all_else_is_far_from_them(layers, answer):
    verdict = isolation_verdict("a model", means(layers))
    assert verdict.verdict.startswith(answer)
    assert verdict.published == "newline and brackets about 8, all else about 1"


def test_where_no_layer_isolates_them_the_one_with_the_widest_range_is_described():
    some = layer(1, 9) | {"close bracket": (8.5, 0.1)}
    verdict = isolation_verdict("a model", means([layer(1, 2), some]))
    assert verdict.ours == (
        "L1 has the widest range; far are name, first byte 9.00, close bracket 8.50; not far: "
        "newline after a statement 1.00 [0.90, 1.10], open bracket 1.00 [0.90, 1.10]"
    )


def test_classes_with_few_bytes_decide_nothing():
    table = means([layer(8, 1)], n=99)
    assert isolations(table) == []
    assert token_verdict("a model", table).verdict == "Undecided: too little source."


@pytest.mark.parametrize(
    ("elsewhere", "answer"),
    [
        (1.0, "Yes: as a token newline after a statement farther by 7.00 and open bracket farther"),
        (8.5, "Hardly: as a token newline after a statement nearer by 0.50"),
        (8.1, "Not shown: the intervals meet."),
    ],
)
def test_the_same_bytes_in_strings_and_comments_tell_token_from_byte(elsewhere, answer):
    verdict = token_verdict("a model", means([layer(1, 2), layer(8, 1, elsewhere)]))
    assert verdict.claim.startswith("L1 of a model")
    assert verdict.verdict.startswith(answer)
    assert verdict.ours.startswith("newline after a statement 8.00 [7.90, 8.10], not code ")


def test_layer_0_can_only_follow_the_byte():
    assert token_verdict("a model", means([layer(8, 1), layer(1, 2)])).verdict.startswith("No:")


@pytest.fixture(scope="module")
def python_checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("code") / "checkpoints"
    save_tiny(folder / "python-per-layer")
    save_tiny(folder / "en-zh-per-layer")
    return folder


@pytest.mark.usefixtures("cache")
def test_models_that_read_no_source_are_marked(python_checkpoints, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(SOURCE * 12, "utf-8")
    given = StudyInput(python_checkpoints, (f"python={tmp_path / '*.py'}",))
    run_study(STUDY, given, tmp_path / "out")
    page = (tmp_path / "out/reports/code.html").read_text("utf-8")
    assert "Out of distribution: en-zh-per-layer read English and Chinese" in page
    table = tables.read_csv(str(tmp_path / "out/analyses/code/token-classes.csv"))
    assert set(table["checkpoint"]) == {"python-per-layer", "en-zh-per-layer"}
    (brackets,) = rows_of(
        table.query(
            "checkpoint == 'python-per-layer' and statistic == 'mean' and layer == 0 "
            "and group == 'open bracket'"
        )
    )
    assert (brackets["n"], brackets["n_documents"]) == (48, 2)
    readme = (tmp_path / "out/analyses/code/README.md").read_text("utf-8")
    assert "| a.py | Python source |" in readme


@pytest.mark.usefixtures("cache")
def test_it_needs_the_model_of_python(study_checkpoints, tmp_path):
    (tmp_path / "a.py").write_text(SOURCE, "utf-8")
    given = StudyInput(study_checkpoints, (f"python={tmp_path / 'a.py'}",))
    with given, pytest.raises(MissingCheckpoint, match="python-per-layer"):
        STUDY.run(given)
