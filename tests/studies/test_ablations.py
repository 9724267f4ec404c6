import pytest
from saved_checkpoint import save_tiny

from interp import checkpoints
from interp.corpus.sources import TextInput
from interp.errors import UsageError
from interp.extraction.reader import SignalReader
from interp.model import ModelConfig, RopeConfig, Transformer
from interp.studies.ablations import REPLACEMENTS, ablate_text, replacements_for
from interp.tables import rows_of
from interp.tokenizer import CharacterTokenizer

CONTENT = "Two small cats sat here. 猫坐在这里睡觉。".encode()


def test_replacements_are_those_that_can_change_a_model(tiny, tmp_path):
    assert replacements_for(tiny) == list(REPLACEMENTS)
    assert replacements_for(tiny, ["one", "mean"]) == ["mean", "one"]  # in their own order
    shared = save_tiny(tmp_path / "shared", scope="shared", max_increment=None)
    assert "layer" not in replacements_for(checkpoints.load(shared))
    sizes = {"d_model": 32, "n_heads": 2, "n_layers": 2, "d_mlp": 48, "n_ctx": 64}
    model = Transformer(ModelConfig(**sizes, position=RopeConfig()))
    checkpoints.save(tmp_path / "plain", model, name="plain")
    plain = checkpoints.load(tmp_path / "plain")
    assert replacements_for(plain) == ["scaled-0.5", "scaled-2"]
    tokenizer = CharacterTokenizer.of([CONTENT])
    model = Transformer(ModelConfig(**sizes, d_vocab=tokenizer.d_vocab))
    checkpoints.save(tmp_path / "characters", model, name="characters", tokenizer=tokenizer)
    characters = checkpoints.load(tmp_path / "characters")
    assert set(REPLACEMENTS) - set(replacements_for(characters)) == {"shuffled-within-class"}
    with pytest.raises(UsageError, match="mean would change nothing"):
        replacements_for(plain, ["mean"])
    with pytest.raises(UsageError, match="no intervention called 'x'"):
        replacements_for(tiny, ["x"])


def test_the_byte_table_changes_nothing_in_layer_0_and_something_above(tiny):
    said, remarks = [], []
    table = ablate_text(
        tiny,
        TextInput(literal=CONTENT),
        ["byte-table"],
        [0, 1],
        remark=remarks.append,
        progress=lambda *each: said.append(each),
    )
    changes = rows_of(table.query("statistic == 'loss_difference' and `group` == 'all bytes'"))
    assert [(row["signal"], row["layer"]) for row in changes] == [
        ("surprisal", 0),
        ("surprisal", 1),
    ]
    assert changes[0]["value"] == pytest.approx(0.0, abs=1e-6)
    assert abs(changes[1]["value"]) > 1e-6
    assert {"first letter of a word", "after a word end (jieba 0.42.1)"} <= set(table["group"])
    # progress goes over all passes as if they were one text
    assert remarks == [f"3 passes over {len(CONTENT)} bytes"]
    assert {(name, n_all) for name, _, n_all in said} == {("ablations", 3 * len(CONTENT))}
    assert [n_done for _, n_done, _ in said] == sorted(n_done for _, n_done, _ in said)
    assert said[-1][1] == 3 * len(CONTENT)


def test_an_interrupted_ablation_goes_on_where_it_stopped(tiny, monkeypatch):
    text = TextInput(literal=b"A text that no other test reads.")
    n_read, read = [0], SignalReader.read

    def counted(self, *arguments, **settings):
        if n_read[0] == 3:
            raise KeyboardInterrupt
        n_read[0] += 1
        return read(self, *arguments, **settings)

    monkeypatch.setattr(SignalReader, "read", counted)
    with pytest.raises(KeyboardInterrupt):
        ablate_text(tiny, text, ["mean"], [0, 1, None])
    n_read[0] = 0
    ablate_text(tiny, text, ["mean"], [0, 1, None])
    assert n_read[0] == 1  # of four passes three were there
