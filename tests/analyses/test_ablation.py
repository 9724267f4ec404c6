from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch
from tiny import N_CTX, TinyCheckpoint, documents, tiny_model

from interp.analyses.ablation import (
    ALL_BYTES,
    CLASSES,
    HIGHER,
    LOWER,
    SAME,
    UNDECIDED,
    WHOLE_TEXT,
    WORD_REST,
    WORD_START,
    Ablated,
    after_gaps,
    answer,
    gap_groups,
    latin_words,
    loss_changes,
)
from interp.analyses.seeds import MARGIN_NATS
from interp.errors import InputError
from interp.extraction.extract import extract
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.extraction.interventions import Intervention
from interp.model.loss import document_losses
from interp.segmentation import Gaps
from interp.tables import rows_of
from interp.text import BYTE_CLASSES

CONTENTS = ("Two small cats sat here. 猫坐。".encode(), b"It is 9 o'clock, and 3 dogs bark.\n")


@dataclass(frozen=True)
class Segmenting:
    """Ends a word before every byte of ``starts``; judges the gaps before those of ``judged``."""

    starts: tuple[int, ...]
    judged_gaps: tuple[int, ...]
    reference: str = "a pencil"
    details: str = ""
    judged: str = "two marks"

    def gaps(self, content: bytes) -> Gaps:
        offsets = np.array(self.judged_gaps, dtype=np.int64)
        return Gaps(offsets + 1, np.isin(offsets, self.starts), len(content), {})


@dataclass(frozen=True)
class ByHand(IncrementTable):
    """A table of surprisal whose numbers are given."""

    nats: tuple[tuple[bytes, list[float]], ...] = field(default=())

    def read_documents(self, signal="increment"):  # noqa: ARG002
        for doc, (content, nats) in enumerate(self.nats):
            values = np.array([[np.nan], *([each] for each in nats)], dtype=np.float32)
            context = np.zeros(len(values), dtype=np.int32)
            yield DocumentSignal(doc, "text", "", content, values, context)


def by_hand(tmp_path, *nats, **manifest):
    about = {"checkpoint": "tiny", "corpus_fingerprint": "a", "window": 8, "stride": 8}
    about["shard"] = [0, 1]
    return ByHand(tmp_path, about | manifest, nats)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Surprisal of `CONTENTS` with an intervention."""
    checkpoint = TinyCheckpoint(tiny_model())
    folder = tmp_path_factory.mktemp("tables")

    def read(intervention=None, stride=N_CTX, contents=CONTENTS):
        return extract(
            checkpoint,
            documents(*contents),
            folder / str(len(list(folder.iterdir()))),
            signals=("surprisal",),
            stride=stride,
            intervention=intervention,
        )

    return read


def changes(table):
    return {row["group"]: row for row in rows_of(table.query("statistic == 'loss_difference'"))}


def test_a_known_difference_is_found(tmp_path):
    before = by_hand(tmp_path, (b"a b", [1.0, 2.0, 3.0]), (b" ", [4.0]))
    after = by_hand(tmp_path, (b"a b", [1.5, 2.5, 3.0]), (b" ", [3.0]))
    table = loss_changes(before, [Ablated("half", 3, after)])
    assert rows_of(table.query("statistic == 'loss'"))[0]["value"] == pytest.approx(10 / 4)
    found = changes(table)
    assert list(found) == [ALL_BYTES, "lowercase, word-initial", "space"]
    assert found[ALL_BYTES]["value"] == pytest.approx((0.5 + 0.5 + 0 - 1) / 4)
    assert found[ALL_BYTES]["n"] == 4
    assert found["lowercase, word-initial"]["value"] == pytest.approx(0.25)
    assert found["lowercase, word-initial"]["note"] == "no interval: one document only"
    space = found["space"]
    assert (space["reference"], space["layer"], space["n_documents"]) == ("half", 3, 2)
    assert space["value"] == pytest.approx(-0.25)
    # left out in turn: -1 and 0.5; their jackknife error is 0.75, t with 1 degree 12.706
    assert space["high"] == pytest.approx(-0.25 + 12.7062 * 0.75, rel=1e-4)


def test_increments_times_one_change_nothing_and_say_so(read):
    table = loss_changes(read(), [Ablated("1 x", None, read(Intervention("scaled", factor=1.0)))])
    for row in changes(table).values():
        assert row["value"] == 0.0
        assert row["low"] is None
        assert row["note"].startswith("no interval: ")
        assert answer(row["value"], row["low"], row["high"]) == SAME
    assert (
        changes(table)[ALL_BYTES]["note"] == "no interval: degenerate, the documents do not differ"
    )


def test_changes_of_classes_add_up_to_that_of_all_bytes(read):
    after = read(Intervention("one", (1,)))
    found = changes(loss_changes(read(), [Ablated("1", 1, after)]))
    total = sum(found[name]["n"] * found[name]["value"] for name in BYTE_CLASSES if name in found)
    assert found[ALL_BYTES]["n"] == sum(map(len, CONTENTS))
    assert total == pytest.approx(found[ALL_BYTES]["n"] * found[ALL_BYTES]["value"], abs=1e-9)
    assert abs(found[ALL_BYTES]["value"]) > 1e-4


def test_the_change_is_that_of_the_loss_of_a_hooked_model(read):
    model = tiny_model()
    hook = ("blocks.1.attn.hook_increment", lambda increment, hook: increment * 2)  # noqa: ARG005

    def loss(forward):
        device = torch.device("cpu")
        found = document_losses(forward, CONTENTS, n_ctx=N_CTX, device=device)
        return sum(each.total_nats for each in found) / sum(map(len, CONTENTS))

    expected = loss(lambda ids: model.run_with_hooks(ids, fwd_hooks=[hook])) - loss(model)
    after = read(Intervention("scaled", (1,), factor=2.0))
    found = changes(loss_changes(read(), [Ablated("double", 1, after)], [WHOLE_TEXT]))
    assert found[ALL_BYTES]["value"] == pytest.approx(expected, abs=1e-5)


def test_intervals_are_simultaneous_over_the_layers_of_one_replacement(read):
    one, together = read(Intervention("one", (1,))), read(Intervention("one"))
    alone = loss_changes(read(), [Ablated("1", 1, one), Ablated("half", None, together)])
    both = loss_changes(read(), [Ablated("1", 1, one), Ablated("1", None, together)])
    (single,) = rows_of(alone.query("layer == 1 and `group` == @ALL_BYTES"))
    (double,) = rows_of(both.query("layer == 1 and `group` == @ALL_BYTES"))
    assert double["value"] == single["value"]
    # t with 1 degree of freedom at 0.9875 and at 0.975
    ratio = (double["high"] - double["low"]) / (single["high"] - single["low"])
    assert ratio == pytest.approx(25.4517 / 12.7062, rel=1e-4)
    assert double["method"].endswith("simultaneous for 2")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"corpus_fingerprint": "b"}, "of another text"),
        ({"checkpoint": "small"}, "of another model"),
        ({"shard": [1, 2]}, "of another shard"),
        ({"window": 4, "stride": 4}, "of another length of window"),
    ],
)
def test_what_is_not_about_the_same_predictions_is_refused(tmp_path, changed, says):
    before, other = by_hand(tmp_path, (b"a", [1.0])), by_hand(tmp_path, (b"a", [1.0]), **changed)
    with pytest.raises(InputError, match=says):
        loss_changes(before, [Ablated("1", None, other)])


def test_windows_that_overlap_are_refused(tmp_path):
    before = by_hand(tmp_path, (b"a", [1.0]))
    overlapping = replace(before, manifest=before.manifest | {"stride": 4})
    with pytest.raises(InputError, match="overlap"):
        loss_changes(overlapping, [])


def test_first_letters_of_latin_words_and_the_letters_after_them():
    content = "It's e\u0301a 中Xé".encode() + b"\xffb"
    found = latin_words().group_of(content)
    assert latin_words().names == (WORD_START, WORD_REST)
    of_group = [bytes(np.frombuffer(content, np.uint8)[found == n]).decode() for n in (0, 1)]
    assert of_group == ["Ise\u0301Xb", "taé"]


def test_characters_after_word_ends_and_after_other_gaps():
    content = "中国人a".encode()
    grouping = after_gaps(Segmenting(starts=(6,), judged_gaps=(3, 6)))
    assert grouping.names == gap_groups("a pencil")
    assert grouping.group_of(content).tolist() == [-1, -1, -1, 1, 1, 1, 0, 0, 0, -1]


def test_every_byte_is_in_one_class():
    for content in (*CONTENTS, b"\xff\xfe", b""):
        found = CLASSES.group_of(content)
        assert len(found) == len(content)
        assert (found >= 0).all()


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        ((0.2, 0.1, 0.3), HIGHER),
        ((-0.2, -0.3, -0.1), LOWER),
        ((0.1, -0.1, 0.3), UNDECIDED),
        ((0.002, 0.001, MARGIN_NATS), SAME),  # surely above 0, and surely small
        ((0.002, 0.001, 2 * MARGIN_NATS), HIGHER),
        ((0.0, None, None), SAME),
        ((0.3, None, None), UNDECIDED),
        ((None, None, None), UNDECIDED),
    ],
)
def test_the_answer_asks_whether_the_interval_is_within_the_margin(estimate, expected):
    assert answer(*estimate) == expected


def test_what_nothing_predicts_is_in_no_loss(tmp_path):
    """The first character of a text without a separator."""
    before = by_hand(tmp_path, (b"abc", [np.nan, 2.0, 3.0]), (b"de", [np.nan, 4.0]))
    after = by_hand(tmp_path, (b"abc", [np.nan, 2.5, 3.0]), (b"de", [np.nan, 4.0]))
    table = loss_changes(before, [Ablated("half", 0, after)])
    loss = rows_of(table.query("statistic == 'loss'"))[0]
    assert (loss["value"], loss["n"]) == (pytest.approx(9 / 3), 3)
    assert changes(table)[ALL_BYTES]["value"] == pytest.approx(0.5 / 3)
