"""One self-contained HTML page: a head, sections, tables; opens from disk, asks nobody anything."""

import base64
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import pandas as pd

from interp import tables
from interp.reports import theme
from interp.reports.chart import Chart
from interp.reports.document import document
from interp.reports.markup import Html, escape, isolated, joined
from interp.tables import rows_of

UNDEFINED = "—"
"""What a table shows where a value is not defined; the row's note says why."""

_KEYS = ("checkpoint", "signal", "statistic", "layer", "head", "group", "reference", "scored_at")
"""What tells one row from another."""

_SPREAD = ("mean", "sd", "min", "max")
_NUMBERS = ("value", "low", "high", *_SPREAD)
_COUNTS = ("left_out", "other_script")
"""Statistics whose values are whole numbers."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it.

    Args:
        title: The heading, as text; no two sections of a page have the same.
        parts: `Html` stands as it is, a `Chart` is drawn, any other string is a paragraph.
    """

    title: str
    parts: Sequence[Html | Chart | str]

    @property
    def anchor(self) -> Html:
        """Its name in an address: the heading in lower case, with hyphens for spaces."""
        return escape("-".join(self.title.lower().split()))


def page(
    title: str,
    *,
    lead: Sequence[str] = (),
    facts: Sequence[tuple[str, str]] = (),
    warnings: Sequence[str] = (),
    sections: Sequence[Section] = (),
    footer: str = "",
    description: str = "",
    picture: str = "",
) -> str:
    """A whole HTML document that works from disk, without a network.

    Args:
        title: The page's name.
        lead: Paragraphs that say what was measured on what.
        facts: Names and values: checkpoint, text, counts, versions.
        warnings: What a reader must know first, such as inputs that were empty.
        sections: The body, in order.
        footer: The last line.
        description: What the page shows, in a sentence; a gallery has it beside the title.
        picture: What a gallery shows of the page: SVG, as `interp.reports.pictures` draws it.

    Returns:
        The document; encode it as UTF-8.

    Raises:
        InterpError: The installation lacks the script that draws charts.
    """
    has_charts = any(
        isinstance(part, Chart) and part.figures for section in sections for part in section.parts
    )
    scripts = ["page.js", "positions.js", *([theme.PLOTLY, "charts.js"] if has_charts else [])]
    body = joined(
        [
            Html('<div class="page">'),
            _head(title, lead, facts, warnings, sections),
            Html(f"<main>{joined(_section(section) for section in sections)}</main>"),
            Html(f"<footer><p>{escape(footer)}</p></footer>" if footer else ""),
            Html("</div>"),
        ],
        "\n",
    )
    return document(
        title,
        body,
        scripts=[theme.asset(name) for name in scripts],
        description=description,
        picture=picture,
    )


def table(frame: pd.DataFrame, *, caption: str, file_name: str) -> Html:
    """An analysis table to read and to download.

    What is the same in every row is said once above the table; mean, standard deviation,
    minimum and maximum of one group share a row. The download is the table as it is.

    Args:
        frame: The analysis table.
        caption: What it is, in a few words.
        file_name: The name of the download, ending in ``.csv``.
    """
    csv = base64.b64encode(tables.to_csv(frame).encode("utf-8")).decode("ascii")
    constant, rows = _for_reading(frame)
    said_once = " · ".join(f"{_column_title(name)} {value}" for name, value in constant.items())
    numeric = {name for name in rows.columns if pd.api.types.is_numeric_dtype(rows[name])}
    head = joined(
        Html(f'<th scope="col"{_cell_class(name, numeric)}>{escape(_column_title(name))}</th>')
        for name in rows.columns
    )
    body = joined(
        Html(f"<tr>{joined(_cell(name, row, constant, numeric) for name in rows.columns)}</tr>")
        for row in rows.to_dict("records")
    )
    return Html(
        '<details class="table">'
        f"<summary>{escape(caption)}, {len(rows):,} row{'s' if len(rows) != 1 else ''}</summary>"
        + (f'<p class="constant">{escape(said_once)}</p>' if said_once else "")
        + f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<a class="download" download="{escape(file_name)}" '
        f'href="data:text/csv;charset=utf-8;base64,{csv}">Download {escape(file_name)}</a>'
        "</details>"
    )


def _head(
    title: str,
    lead: Sequence[str],
    facts: Sequence[tuple[str, str]],
    warnings: Sequence[str],
    sections: Sequence[Section],
) -> Html:
    paragraphs = joined(Html(f'<p class="lead">{escape(words)}</p>') for words in lead)
    terms = joined(
        Html(f"<dt>{escape(name)}</dt><dd>{isolated(value)}</dd>") for name, value in facts
    )
    items = joined(Html(f"<li>{isolated(warning)}</li>") for warning in warnings)
    links = joined(
        Html(f'<a href="#{section.anchor}">{escape(section.title)}</a>') for section in sections
    )
    return joined(
        [
            Html(f"<header><h1>{isolated(title)}</h1>"),
            Html('<button type="button" class="mode" hidden></button>'),
            paragraphs,
            Html(f'<dl class="facts">{terms}</dl>') if terms else "",
            Html(f'<aside class="warnings" role="note"><ul>{items}</ul></aside>') if items else "",
            Html(f'<nav class="contents" aria-label="Sections">{links}</nav>')
            if len(sections) > 1
            else "",
            Html("</header>"),
        ]
    )


def _section(section: Section) -> Html:
    parts = joined(_part(part) for part in section.parts)
    title = Html(f'<a href="#{section.anchor}">{isolated(section.title)}</a>')
    return Html(f'<section id="{section.anchor}"><h2>{title}</h2>{parts}</section>')


def _part(part: Html | Chart | str) -> Html:
    if isinstance(part, Chart):
        return part.to_html()
    return part if isinstance(part, Html) else Html(f"<p>{escape(part)}</p>")


def _for_reading(frame: pd.DataFrame) -> tuple[dict[str, str], pd.DataFrame]:
    """What holds for all rows, and the rows with the columns that tell them apart."""
    rows = _spread_statistics(frame).dropna(axis=1, how="all")
    if "value" in frame.columns and "value" not in rows.columns and "mean" not in rows.columns:
        rows = rows.assign(value=frame["value"].to_numpy())
    constant = {}
    for name, column in rows.items():
        values = column.tolist()
        is_float = pd.api.types.is_float_dtype(column)
        if len(values) > 1 and not is_float and not column.hasnans and len(set(values)) == 1:
            constant[str(name)] = _in_words(str(name), values[0])
    return constant, rows.drop(columns=list(constant))


def _spread_statistics(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per group with its mean, sd, min and max beside one another, where it has them."""
    rows = rows_of(frame)
    statistics = {row["statistic"] for row in rows}
    if not {"mean", "sd"} <= statistics <= set(_SPREAD):
        return frame
    keys = [key for key in _KEYS if key != "statistic"]
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(tuple(row[key] for key in keys), {})
        notes = [note for each in (group, row) for note in (each.get("note") or "").split("; ")]
        if row["statistic"] == "mean":
            group |= row
        group[row["statistic"]] = row["value"]
        group["note"] = "; ".join(dict.fromkeys(filter(None, notes))) or None
    kinds = tables.COLUMNS | dict.fromkeys(_SPREAD, "Float64")
    order = [*keys, "n", "n_documents", "mean", "low", "high", *_SPREAD[1:], "method", "note"]
    return pd.DataFrame(
        {
            name: pd.array([group.get(name, pd.NA) for group in groups.values()], dtype=kinds[name])
            for name in order
        }
    )


def _column_title(name: str) -> str:
    titles = {"n_documents": "documents", "low": "95 % low", "high": "95 % high"}
    return titles.get(name, name.replace("_", " "))


def _cell_class(name: str, numeric: set[str]) -> str:
    if name in numeric and name not in ("layer", "head"):
        return ' class="number"'
    return ' class="note"' if name == "note" else ""


def _cell(
    name: str, row: Mapping[Hashable, Any], constant: Mapping[str, str], numeric: set[str]
) -> Html:
    value = row[name]
    css_class = _cell_class(name, numeric)
    if pd.isna(value):
        dash = f'<span class="undefined" title="not defined">{UNDEFINED}</span>'
        return Html(f"<td{css_class}>{dash if name in _NUMBERS else ''}</td>")
    if name == "value" and row.get("statistic", constant.get("statistic")) in _COUNTS:
        value = round(value)
    shown = isolated(_in_words(name, value))
    if name in _KEYS:
        return Html(f'<th scope="row"{css_class}>{shown}</th>')
    return Html(f"<td{css_class}>{shown}</td>")


def _in_words(name: str, value: Any) -> str:
    if name in ("layer", "head"):
        return f"{'L' if name == 'layer' else 'H'}{value}"
    if isinstance(value, Integral):
        return f"{value:,}"
    if isinstance(value, float):
        # three decimals, or where that would be 0.000 two digits
        return f"{value:,.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.2g}"
    return str(value)
