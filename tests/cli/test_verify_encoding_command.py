import csv
import io
import json

from interp.model.config import POSITION_CONFIGS
from interp.model.position_encodings import ENCODINGS
from interp.model.rotary import Rope


class RotatesQueriesAlone(Rope):
    def rotate(self, layer, queries, keys, position):
        return super().rotate(layer, queries, keys, position)[0], keys


def test_every_property_fits_a_terminal(interp):
    done = interp("verify-encoding", "all")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(encoding in lines for encoding in POSITION_CONFIGS)
    assert sum(line.startswith("longest window ") for line in lines) == len(POSITION_CONFIGS) + 1
    assert "NO" not in done.out.split()
    words = " ".join(done.out.split())
    assert "not defined: none has no rotary positions that could be stretched" in words


def test_settings_are_those_of_a_recipe(interp):
    settings = ("--set", "scope=shared", "--set", "max_increment=none", "--set", "per_head=true")
    done = interp("verify-encoding", "increments", *settings)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("increments, scope=shared, max_increment=none, per_head=true")
    assert "position.shared." in done.out


def test_json_and_csv_have_a_row_per_property(interp):
    rows = json.loads(interp("verify-encoding", "sinusoidal", "--json").out)
    assert list(rows[0]) == [
        "encoding",
        "property",
        "what",
        "value",
        "at_least",
        "at_most",
        "note",
        "holds",
    ]
    by_name = {row["property"]: row for row in rows}
    assert by_name["order without mask"]["holds"] is True
    assert by_name["distance in tokens"]["holds"] is None
    lengths = by_name["lengths"]
    assert lengths["value"] is lengths["holds"] is None
    assert lengths["note"] == "not defined: it rotates nothing"
    written = interp("verify-encoding", "sinusoidal", "--csv").out
    assert len(list(csv.DictReader(io.StringIO(written)))) == len(rows)


def test_a_broken_promise_is_said_in_a_line_and_by_the_status(interp, monkeypatch):
    monkeypatch.setitem(ENCODINGS, "rope", RotatesQueriesAlone)
    done = interp("verify-encoding", "rope")
    assert done.status == 1
    assert "NO" in done.out.split()
    (line,) = done.err.splitlines()
    assert line.startswith("interp: verify-encoding: rope: distance in tokens: ")
    assert "must be at most 0.001" in line
    assert interp("verify-encoding", "alibi").status == 0


def test_what_is_not_understood_is_refused_in_a_line(interp):
    for arguments, words in (
        ((), "which one?"),
        (("compass",), "no position encoding 'compass'"),
        (("rope", "--set", "bend=1"), "unknown key position.bend"),
        (("rope", "--set", "bend"), "not of the form key=value"),
        (("increments", "--set", "scope=some"), "position.scope must be one of"),
        (("all", "--set", "scope=shared"), "--set goes with one encoding"),
        (("increments", "--set", "max_increment=1e300"), "position.max_increment must be above 1"),
    ):
        done = interp("verify-encoding", *arguments)
        assert (done.status, done.out) == (2, "")
        assert words in done.err.splitlines()[0]


def test_what_no_machine_has_room_for_is_refused_in_a_line(interp):
    done = interp("verify-encoding", "increments", "--set", "d_hidden=100000000000")
    assert (done.status, done.out) == (1, "")
    assert "GB" in done.err.splitlines()[0]
