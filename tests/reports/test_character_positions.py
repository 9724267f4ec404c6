import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interp.errors import InputError
from interp.reports.character_positions import PositionTrace, traces_of
from interp.reports.glyphs import MAX_CODE_POINTS, MAX_WIDTH_EM, glyph
from interp.reports.position_layout import SCALES, lay_out
from interp.reports.position_plot import position_plot, standalone
from interp.text import BYTE_CLASSES

MARKUP = (
    "<b>bold</b> & <img src=x onerror=alert(1)> </script><script>alert(2)</script> "
    '$\\href{javascript:alert(3)}{x}$ "quotes"'
)


def trace_of(content: bytes, n_rows: int = 2, seed: int = 0, **kwargs: str) -> PositionTrace:
    generator = np.random.default_rng(seed)
    increments = generator.gamma(2.0, 0.5, size=(n_rows, len(content) + 1)).astype(np.float32)
    names = tuple(f"L{row}" for row in range(n_rows))
    return PositionTrace(kwargs.pop("title", "a text"), content, increments, names, **kwargs)


def layout_of(trace: PositionTrace, *, width_px: float = 500.0, scale: str = "mean"):
    widths = [glyph(character).width_em for character in trace.characters]
    return lay_out(trace, widths, width_px=float(width_px), font_px=16.0, scale=scale), np.array(
        widths
    ) * 16


def test_character_sums_its_bytes_and_the_separator_counts_for_nothing():
    increments = np.array([[9.0, 1.0, 0.5, 0.25, 2.0]])
    trace = PositionTrace("人a", "人a".encode(), increments, ("L0",))
    assert trace.characters == ("人".encode(), b"a")
    assert trace.character_increments.tolist() == [[1.75, 2.0]]
    assert trace.character_positions.tolist() == [[1.75, 3.75]]
    assert trace.byte_positions.tolist() == [[0.0, 1.0, 1.5, 1.75, 3.75]]


def test_grapheme_clusters_are_one_character_and_invalid_bytes_one_each():
    content = "👨‍👩‍👧‍👦e\u0301".encode() + b"\xff\xe4"
    trace = trace_of(content)
    assert len(trace.characters) == 4
    assert trace.characters[2:] == (b"\xff", b"\xe4")


def test_both_kinds_of_line_ends_are_newlines_and_end_lines():
    trace = trace_of(b"Ab\r\nc\n\rd")
    newline, other = (BYTE_CLASSES.index(name) for name in ("newline", "other ASCII"))
    assert trace.character_classes[[2, 4, 5]].tolist() == [newline, newline, other]
    content = b"abcdefghijklmnop\r\n" * 9
    even = PositionTrace("even", content, np.ones((1, len(content) + 1)), ("L0",))
    layout, _ = layout_of(even, width_px=320)
    assert len(layout.lines) > 3
    assert {line.end % 17 for line in layout.lines} == {0}


@given(st.binary(max_size=60))
@settings(max_examples=60, deadline=None)
def test_character_increments_add_up_to_the_last_position(content):
    trace = trace_of(content)
    whole = trace.increments[:, 1:].astype(np.float64).sum(axis=1)
    assert trace.character_increments.sum(axis=1) == pytest.approx(whole)
    assert b"".join(trace.characters) == content


@pytest.mark.parametrize(
    "increments",
    [np.ones((1, 3)), np.ones((2, 4)), np.array([[1, np.nan, 1, 1]]), -np.ones((1, 4))],
)
def test_impossible_increments_are_refused(increments):
    with pytest.raises(InputError, match="position plot of 'x'"):
        PositionTrace("x", b"abc", increments, ("L0",))


def test_columns_per_head_become_a_panel_per_layer():
    values = np.arange(3 * 4, dtype=float).reshape(3, 4)
    traces = traces_of("text", b"ab", values, ["L0H0", "L0H1", "L1H0", "L1H1"])
    assert [trace.title for trace in traces] == ["text · L0", "text · L1"]
    assert traces[1].row_names == ("H0", "H1")
    assert traces[1].increments.tolist() == [[2, 6, 10], [3, 7, 11]]
    (shared,) = traces_of("text", b"ab", values[:, :1], ["shared"])
    assert (shared.title, shared.row_names) == ("text", ("shared",))


def test_rows_divided_by_their_mean_end_at_the_same_place():
    layout, _ = layout_of(trace_of(b"a short text", n_rows=4))
    (line,) = layout.lines
    assert line.x[:, -1] == pytest.approx(line.x[0, -1])


def test_one_factor_for_all_rows_keeps_their_lengths_in_proportion():
    trace = trace_of(b"a short text", n_rows=4)
    layout, _ = layout_of(trace, scale="same")
    (line,) = layout.lines
    assert len(set(layout.px_per_position)) == 1
    ratio = line.x[:, -1] / trace.character_positions[:, -1]
    assert ratio == pytest.approx(ratio[0])


@given(
    st.lists(
        st.sampled_from([*"ab 人工。\n🎉\u0301", "ᄀ" * 50, "한" + "\u11a8" * 99]),
        min_size=1,
        max_size=99,
    ).map("".join),
    st.sampled_from(SCALES),
    st.integers(120, 900),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_no_glyph_hides_another_or_leaves_the_line(words, scale, width_px, seed):
    trace = trace_of(words.encode(), n_rows=3, seed=seed)
    layout, widths = layout_of(trace, width_px=width_px, scale=scale)
    covered = [index for line in layout.lines for index in range(line.start, line.end)]
    assert covered == list(range(len(trace.characters)))
    for line in layout.lines:
        halves = widths[line.start : line.end] / 2
        for x, lanes in zip(line.x, line.lanes, strict=True):
            assert np.all(x >= 0)
            assert np.all(x + halves <= width_px + 0.01)
            for lane in set(lanes[lanes < line.max_lanes]):
                own = lanes == lane
                assert np.all((x + halves)[own][:-1] <= (x - halves)[own][1:])


def test_wrapped_lines_start_again_at_zero():
    trace = trace_of(b"some words that do not fit " * 10)
    layout, _ = layout_of(trace, width_px=300)
    assert len(layout.lines) > 3
    for line in layout.lines:
        first = trace.character_increments[:, line.start] * layout.px_per_position
        assert line.x[:, 0] == pytest.approx(first)


def test_increments_of_zero_and_one_huge_one_still_fit():
    increments = np.zeros((2, 41))
    increments[0, 20] = 1e6
    trace = PositionTrace("x", b"a" * 40, increments, ("L0", "L1"))
    for scale in SCALES:
        layout, _ = layout_of(trace, scale=scale)
        assert all(np.all(line.x <= 500) for line in layout.lines)
        assert layout.lines[0].is_tick.any()


@pytest.mark.parametrize(
    ("character", "shown", "kind"),
    [
        (b"a", "a", "run"),
        ("人".encode(), "人", "run"),
        (b" ", "␣", "run"),
        ("\u3000".encode(), "␣", "run"),
        (b"\n", "↵", "run"),
        (b"\r\n", "↵", "run"),
        (b"\x00", "NUL", "cell"),
        (b"\x1b", "ESC", "cell"),
        (b"\xe4", "E4", "cell"),
        ("\u202e".encode(), "202E", "cell"),
        ("e\u0301".encode(), "e\u0301", "own"),
        ("𠀋".encode(), "𠀋", "own"),
        ("م".encode(), "م", "own"),
        (b"<", "<", "run"),
        ("<\u0338".encode(), "<\u0338", "own"),
        ("<\u200d".encode(), "<\u200d", "own"),
        ("👨‍👩‍👧‍👦".encode(), "👨‍👩‍👧‍👦", "own"),
    ],
)
def test_every_kind_of_character_has_its_glyph(character, shown, kind):
    each = glyph(character)
    assert (each.shown, each.kind) == (shown, kind)
    assert each.width_em > 0.3


def test_plot_escapes_text_everywhere():
    html = position_plot(trace_of(MARKUP.encode(), title=MARKUP, note=MARKUP, language='"><b>'))
    assert "<b>" not in html
    assert "<img" not in html
    assert len(re.findall("<script", html)) == 1  # the block of numbers
    assert "alert(2)" in html


def test_plot_embeds_the_numbers_it_draws():
    trace = trace_of("人 a\x00".encode(), n_rows=2)
    block = re.search(
        r'<script type="application/json" class="trace">(.*?)</script>', position_plot(trace)
    )
    numbers = json.loads(block.group(1))
    assert numbers["bytes"] == "e4baba206100"
    assert numbers["ends"] == [3, 4, 5, 6]
    assert numbers["shown"] == ["人", " ", "a", "␀"]
    assert np.array(numbers["increments"]) == pytest.approx(trace.increments[:, 1:], rel=1e-5)


def test_plot_of_an_empty_text_says_so():
    assert "nothing to draw" in position_plot(trace_of(b""))


def test_one_row_has_no_choice_of_scales():
    assert 'type="radio"' not in position_plot(trace_of(b"abc", n_rows=1))
    assert position_plot(trace_of(b"abc", n_rows=2)).count('type="radio"') == 2


def test_standalone_plot_brings_its_style_and_script():
    html = standalone(trace_of(b"abc"))
    assert html.count("<style>") == 1
    assert "figure.positions" in html
    assert not re.search(r"(src|href)=\"(https?:)?//", html)


def test_a_character_of_very_many_code_points_is_squeezed_into_a_bounded_width():
    for character in ("ᄀ" * 50, "<U" + "\u0301" * 300, "\u0600" * 40 + "a", "🇫" * 2):
        each = glyph(character.encode())
        assert each.width_em <= MAX_WIDTH_EM
    assert glyph(("ᄀ" * 50).encode()).is_squeezed
    html = position_plot(trace_of(("ᄀ" * 50).encode()))
    assert f'textLength="{MAX_WIDTH_EM * 16:.1f}"' in html


def test_a_pile_of_marks_is_shown_by_the_first_of_them():
    character = ("a" + "\u0301" * 3000).encode()
    assert glyph(character).shown == "a" + "\u0301" * (MAX_CODE_POINTS - 1) + "…"
    assert glyph(("a" + "\u0301" * 15).encode()).shown.endswith("\u0301")
    assert position_plot(trace_of(character)).count("\u0301") < 20 * MAX_CODE_POINTS


def test_a_plot_says_without_scripts_what_is_missing_and_offers_nothing_that_does_nothing():
    html = position_plot(trace_of(b"abc"))
    assert ["scripts" in words for words in re.findall("<noscript>(.*?)</noscript>", html)] == [
        True
    ]
    assert '<details class="numbers" hidden>' in html
    assert '<p class="keys" hidden>' in html
    assert len(re.findall(r"<button[^>]* disabled>", html)) == 2


def test_a_plot_has_no_name_that_another_plot_of_its_page_could_have():
    html = position_plot(trace_of(b"abc"))
    assert not re.search(r"\s(id|for|aria-\w+by)=", html)
    assert html.count("<form") == 1  # radio buttons of one name belong together within it only
