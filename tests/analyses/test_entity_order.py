from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from saved_checkpoint import save_tiny
from scipy.stats import wilcoxon

from interp import checkpoints
from interp.analyses.entity_order import (
    FIRST_WORD,
    FIRST_WORD_MATCHED,
    MATCHED,
    MEDIAN_DIFFERENCE,
    ORDER,
    P_HOLM,
    P_VALUE,
    SHARE_SMALLER,
    SIGNALS,
    entity_order,
    entity_pair_texts,
)
from interp.analyses.word_pairs import (
    FIRST_BYTE,
    SECOND_WORD,
    SPACE,
    Carrier,
    PairTexts,
    WordPair,
    after_other_first_words,
)
from interp.errors import InputError
from interp.extraction.extract import extract
from interp.extraction.increment_table import DocumentSignal, IncrementTable
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.tables import rows_of


def pairs(listed):
    return tuple(WordPair(*each.split()) for each in listed.split(", "))


ENTITIES = pairs("New York, Tel Aviv, Adam Smith, Red Cross, Vera Cruz, Ann Lee")
ORDINARY = pairs("Old Rope, Big Tree, Wet Rain, Hot Soup, Low Wall, Odd Shoe, Raw Meat, Sad Song")
CARRIERS = (Carrier("We saw ", "."), Carrier("I read of ", " then."))
BOTH_PLACES = [
    (each, at) for each in (FIRST_WORD, FIRST_WORD_MATCHED) for at in (FIRST_BYTE, SECOND_WORD)
]
EVERYWHERE = [(ORDER, SPACE), (MATCHED, SPACE), *BOTH_PLACES]


def estimates(found, comparison, place, signal="increment"):
    rows = rows_of(found.comparisons)
    wanted = {"group": comparison, "scored_at": place, "signal": signal}
    return {(row["layer"], row["statistic"]): row for row in rows if wanted.items() <= row.items()}


@dataclass(frozen=True)
class SignalsInMemory(IncrementTable):
    """Three signals of texts; the increments as a function of the text gives them."""

    texts: PairTexts
    increment: Callable[[bytes], np.ndarray]

    def columns(self, signal="increment"):
        return ["L0", "L1"] if signal == "increment" else ["value"]

    def read_documents(self, signal="increment"):
        for doc, document in enumerate(self.texts.documents()):
            content = bytes(document.content[:])
            values = np.zeros((len(content) + 1, 1), dtype=np.float32)
            if signal == "increment":
                values = self.increment(content).astype(np.float32)
            context = np.arange(len(values), dtype=np.int32)
            yield DocumentSignal(doc, document.source, document.id, content, values, context)


def in_memory(texts, increment):
    return SignalsInMemory(Path("in memory"), {"checkpoint": "made"}, texts, increment)


def test_values_are_read_at_the_space_the_first_byte_and_over_the_word():
    texts = PairTexts({"only": pairs("ab cde, é xy")}, (Carrier("q ", "."), Carrier("rs ", "")))
    table = in_memory(texts, lambda content: np.arange(2 * len(content) + 2).reshape(-1, 2))
    (found,) = texts.values(table, "increment").values()
    # "q ab cde.": the space is byte 4, so row 5; "rs ab cde": one further on
    assert found[SPACE][0].tolist() == [11.0, 12.0]
    assert found[FIRST_BYTE][0].tolist() == [13.0, 14.0]
    assert found[SECOND_WORD][0].tolist() == [45.0, 48.0]
    assert found[SPACE][1].tolist() == [11.0, 12.0]  # é has two bytes


def test_the_table_must_be_about_the_texts():
    texts, others = (PairTexts({"only": pairs(each)}, CARRIERS) for each in ("a b", "a c, d e"))
    made = in_memory(texts, lambda content: np.zeros((len(content) + 1, 2)))
    with pytest.raises(ValueError, match="text 0 of the table is another one"):
        others.values(made, "increment")


def test_every_first_word_stands_once_before_another_second_word():
    others = after_other_first_words(ENTITIES)
    assert sorted(pair.first for pair in others) == sorted(pair.first for pair in ENTITIES)
    assert [pair.second for pair in others] == [pair.second for pair in ENTITIES]
    assert not set(others) & set(ENTITIES)


def test_another_first_word_is_never_the_same_and_makes_no_pair_of_the_list():
    listed = pairs("New York, New Delhi, South York, Old Town")
    others = dict(zip(listed, after_other_first_words(listed), strict=True))
    assert str(others[listed[0]]) == "Old York"  # South York is in the list
    assert all(own.first != other.first for own, other in others.items())
    with pytest.raises(InputError, match="no other first word for 'New York'"):
        after_other_first_words(pairs("New York, new Delhi"))


@pytest.mark.parametrize(
    "words", [("New", ""), ("New York", "City"), ("a\u00a0b", "c"), (" a", "b")]
)
def test_a_pair_is_two_words(words):
    with pytest.raises(InputError, match="not one word each"):
        WordPair(*words)


def planted(content):
    """L0 by the byte; L1 nearer at the space in an entity and over its second word."""
    by_byte = np.array([0, *content], dtype=float) / 256
    deeper = np.ones(len(content) + 1)
    for index, pair in enumerate((*ENTITIES, *ORDINARY)):
        at = content.find(str(pair).encode())
        if at >= 0 and pair in ENTITIES:
            space = at + len(pair.first) + 1
            deeper[space] = 0.9 - index / 1000
            deeper[space + 1] = 0.8
    return np.stack([by_byte, deeper], axis=1)


def test_what_was_planted_is_found_and_the_byte_alone_gives_exactly_nothing():
    texts = entity_pair_texts(ENTITIES, ORDINARY, CARRIERS)
    found = entity_order(in_memory(texts, planted), texts)
    for where in EVERYWHERE:
        of = estimates(found, *where)
        assert of[0, MEDIAN_DIFFERENCE]["value"] == 0
        assert of[0, SHARE_SMALLER]["value"] is of[0, P_HOLM]["value"] is None
        assert "all 6 are 0" in of[0, P_VALUE]["note"]
        expected = -0.1025 if where[1] == SPACE else -0.2
        assert of[1, MEDIAN_DIFFERENCE]["value"] == pytest.approx(expected)
        assert (of[1, SHARE_SMALLER]["value"], of[1, SHARE_SMALLER]["n"]) == (1.0, 6)
        assert of[1, P_HOLM]["method"] == "Holm over 1 test"
    differences = [-0.1 - index / 1000 for index in range(6)]
    expected: Any = wilcoxon(differences)
    p_value = estimates(found, ORDER, SPACE)[1, P_VALUE]["value"]
    assert p_value == pytest.approx(expected.pvalue)


def test_entities_that_begin_alike_are_one_observation():
    listed = (*ENTITIES, WordPair("new", "Delhi"))
    texts = entity_pair_texts(listed, ORDINARY, CARRIERS)
    found = entity_order(in_memory(texts, planted), texts)
    of = estimates(found, ORDER, SPACE)
    assert of[1, MEDIAN_DIFFERENCE]["n"] == 6
    # New York with -0.1 and new Delhi with 0 are one with -0.05
    assert of[1, MEDIAN_DIFFERENCE]["value"] == pytest.approx(-0.1025)
    assert of[1, MEDIAN_DIFFERENCE]["high"] == pytest.approx(-0.05)


def test_ordinary_pairs_that_begin_as_an_entity_does_are_no_controls():
    texts = entity_pair_texts(ENTITIES, (*ORDINARY, WordPair("new", "shoes")), CARRIERS)
    assert "new shoes" not in map(str, texts.groups["ordinary pair"])


def test_matches_are_shown_with_distance_and_what_was_left_apart():
    texts = entity_pair_texts(ENTITIES, ORDINARY, CARRIERS)
    rows = rows_of(entity_order(in_memory(texts, planted), texts).matching)
    of_york = [row for row in rows if row["group"].endswith(": New York")]
    assert [row["statistic"] for row in of_york] == ["distance"] * 2
    assert all(row["reference"] in map(str, ORDINARY) for row in of_york)
    assert {row["value"] for row in rows if row["statistic"] == "share_matched"} == {1.0}
    about = {(row["signal"], row["reference"]) for row in rows if row["scored_at"] == SPACE}
    assert ("entropy", "after matching") in about
    assert ("surprisal", "before matching") in about


def rope(folder):
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}
    torch.manual_seed(0)
    checkpoints.save(folder, Transformer(ModelConfig(**sizes, position=RopeConfig())), name="rope")
    return folder


MODELS = {
    "rope": rope,
    "shared": lambda folder: save_tiny(folder, scope="shared", max_increment=None),
    "shared-per-head": lambda folder: save_tiny(folder, scope="shared", per_head=True),
    "per-layer": save_tiny,
}


@pytest.mark.parametrize("model", MODELS)
def test_what_the_token_decides_differs_by_exactly_0_everywhere(tmp_path, model):
    # many, so that some are as well expected as an entity
    controls = [WordPair(pair.first + end, pair.second) for pair in ORDINARY for end in "abcdefg"]
    texts = entity_pair_texts(ENTITIES, controls, CARRIERS)
    checkpoint = checkpoints.load(MODELS[model](tmp_path / "model"))
    table = extract(checkpoint, texts.documents, tmp_path / "table", signals=SIGNALS)
    found = entity_order(table, texts)
    for where in EVERYWHERE:
        rows = estimates(found, *where).values()
        medians = [row for row in rows if row["statistic"] == MEDIAN_DIFFERENCE]
        decided = [row for row in medians if row["layer"] in (None, 0)]
        assert decided
        assert all((row["n"] > 0, row["value"]) == (True, 0) for row in decided)
        tested = [row for row in rows if row["statistic"] == P_VALUE and row["layer"] in (None, 0)]
        assert all("no difference at all" in row["note"] for row in tested)
        deeper = [row for row in medians if row["layer"] == 1]
        assert all(row["value"] != 0 for row in deeper)
        assert bool(deeper) == (model == "per-layer")
