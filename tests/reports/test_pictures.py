import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from interp.reports.character_positions import PositionTrace
from interp.reports.pictures import HEIGHT_PX, MAX_ROWS, WIDTH_PX, position_picture, value_picture

SVG = "{http://www.w3.org/2000/svg}"


def trace_of(content: bytes, increments) -> PositionTrace:
    names = tuple(f"L{row}" for row in range(len(increments)))
    return PositionTrace("text", content, np.asarray(increments, dtype=float), names, "zh")


def elements(picture: str, name: str):
    return ElementTree.fromstring(picture).findall(f".//{SVG}{name}")


def test_glyphs_of_a_position_picture_stand_where_the_numbers_say():
    picture = position_picture(trace_of(b"abc", [[0, 1, 1, 2], [0, 2, 1, 1]]))
    places = [float(text.get("x")) for text in elements(picture, "text")]
    xs = {f"{'abc'[index % 3]}{index // 3}": x for index, x in enumerate(places)}
    left = 2 * xs["a0"] - xs["b0"]
    assert (xs["a0"] - left, xs["b0"] - left, xs["c0"] - left) == pytest.approx(
        tuple((xs["c0"] - left) * share for share in (0.25, 0.5, 1)), abs=0.2
    )
    assert xs["c1"] == xs["c0"]  # each row by its mean
    assert xs["a1"] == pytest.approx(xs["b0"], abs=0.2)


def test_a_glyph_that_would_hide_another_is_left_out_but_not_its_way():
    picture = position_picture(trace_of(b"abc", [[0, 1, 0, 2], [0, 1, 1, 1]]))
    assert [text.text for text in elements(picture, "text")] == [*"ac", *"abc"]
    assert len(elements(picture, "path")) == 3


@pytest.mark.parametrize("content", [b"", b"a", "长文。".encode() * 50, b"<b>&\x00\xff", b"\n\t "])
def test_every_text_has_a_picture_of_the_same_size(content):
    picture = position_picture(trace_of(content, np.ones((9, len(content) + 1))))
    assert f'viewBox="0 0 {WIDTH_PX} {HEIGHT_PX}"' in picture
    rows = {text.get("y") for text in elements(picture, "text")}
    assert len(rows) == (MAX_ROWS if content else 0)
    for text in elements(picture, "text"):
        assert 0 < float(text.get("x")) < WIDTH_PX
        assert 0 < float(text.get("y")) < HEIGHT_PX


def test_rows_without_any_increment_have_a_picture():
    assert elements(position_picture(trace_of(b"ab", np.zeros((2, 3)))), "text")


def test_values_stand_in_proportion_with_their_intervals():
    picture = value_picture(
        [0.5, None, 0.7], intervals=[(0.4, 0.6), None, (0.6, 0.8)], reference=0.5
    )
    low, high = (float(circle.get("cy")) for circle in elements(picture, "circle"))
    reference, *bars = elements(picture, "line")
    assert float(reference.get("y1")) == low
    assert low - high == pytest.approx(float(bars[0].get("y1")) - low + (low - high) / 2, abs=0.2)
    assert [bar.get("x1") for bar in bars] == [c.get("cx") for c in elements(picture, "circle")]


@pytest.mark.parametrize("values", [[], [None], [1.0], [1.0, 1.0]])
def test_few_or_equal_values_have_a_picture(values):
    drawn = elements(value_picture(values), "circle")
    assert len(drawn) == len([value for value in values if value is not None])
    assert not re.search("nan|inf", value_picture(values).partition("</style>")[2])
