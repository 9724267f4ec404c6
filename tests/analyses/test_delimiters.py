import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from interp.analyses.delimiters import GROUPS, N_PERMUTATIONS, delimiter_auc, permuted_areas

TEXTS = [b"One, two. Three\nfour (5)!", b"A b c", "Caf\u00e9 \u2014 \u4e2d\u6587, ok".encode()]
RNG = np.random.default_rng(3)
BY_BYTE = RNG.normal(size=257).round(1)


def by_byte(_doc, content):
    return np.array([BY_BYTE[256], *(BY_BYTE[byte] for byte in content)])


def area(table, group, statistic="roc_auc"):
    is_row = (table["statistic"] == statistic) & (table["group"] == group)
    (row,) = table[is_row].to_dict("records")
    return row


def test_areas_by_hand(table_of):
    # "a b." scored 1 3 2 2: of the pairs (space or stop, letter) 3 > 1, 3 > 2, 2 > 1, 2 = 2
    table = table_of([b"a b."], lambda *_: np.array([9.0, 1, 3, 2, 2]))
    found = delimiter_auc(table)
    assert area(found, "space, newline, punctuation")["value"] == 0.875
    assert area(found, "space")["value"] == 1.0
    assert area(found, "space", "base_rate")["value"] == 0.25
    assert "one class only" in area(found, "newline")["note"]


def test_areas_are_those_of_scikit_learn_over_all_bytes_of_all_texts(table_of):
    found = delimiter_auc(table_of(TEXTS, by_byte))
    content = b"".join(TEXTS)
    scores = BY_BYTE[list(content)].astype(np.float32)
    members = {"space": b" ", "newline": b"\n", "punctuation": b".!?,;:-"}
    members["space, newline, punctuation"] = b"".join(members.values())
    for group, values in members.items():
        labels = [byte in values for byte in content]
        assert area(found, group)["value"] == pytest.approx(roc_auc_score(labels, scores))
        assert area(found, group)["n_documents"] == 3
    assert set(found["group"]) == set(GROUPS)


def test_what_the_byte_decides_is_also_dealt_at_random(table_of):
    vocabulary = pd.DataFrame({"token": range(257), "n_in_training": 1, "shared": BY_BYTE})
    decided = delimiter_auc(table_of(TEXTS, by_byte, ("shared",), vocabulary))
    dealt = area(decided, "space", "permuted_roc_auc")
    assert dealt["value"] == pytest.approx(0.5, abs=0.05)
    assert dealt["note"] == f"{len(set(b''.join(TEXTS)))} byte values"
    ours = area(decided, "space")["value"]
    p_value = area(decided, "space", "permutation_p")["value"]
    content = np.frombuffer(b"".join(TEXTS), dtype=np.uint8)
    reached = (permuted_areas(BY_BYTE[:256], content, content == 32) >= ours).sum()
    assert p_value == (reached + 1) / (N_PERMUTATIONS + 1)
    assert 0.01 < p_value < 0.99
    contextual = delimiter_auc(table_of(TEXTS, by_byte))
    assert "permuted_roc_auc" not in set(contextual["statistic"])


def test_permutations_by_hand():
    # two byte values, one of them the member: it has the larger value in half of the permutations
    content = np.frombuffer(b"a a a", dtype=np.uint8)
    found = permuted_areas(np.arange(256.0), content, content == 32, n_permutations=1_400)
    assert len(found) == 1_400
    assert set(found) == {0.0, 1.0}
    assert found.mean() == pytest.approx(0.5, abs=0.05)


def test_permuting_what_is_all_alike_changes_nothing():
    content = np.frombuffer(b"".join(TEXTS), dtype=np.uint8)
    found = permuted_areas(np.ones(256), content, content == 32, n_permutations=20)
    assert list(found) == [0.5] * 20


def test_a_permutation_has_the_area_that_scikit_learn_gives():
    content = np.frombuffer(b"".join(TEXTS), dtype=np.uint8)
    values, labels, present = BY_BYTE[:256], content == 32, np.unique(content)
    order = np.random.default_rng(7).permuted(np.arange(len(present))[None], axis=1)[0]
    dealt = np.zeros(256)
    dealt[present[order]] = np.sort(values[present])
    (found,) = permuted_areas(values, content, labels, n_permutations=1, seed=7)
    assert found == pytest.approx(roc_auc_score(labels, dealt[content]))
