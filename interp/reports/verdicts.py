"""Claims with what was published and what was found; published numbers beside ours."""

from collections.abc import Sequence
from dataclasses import dataclass

from interp.reports.markup import Html, escape, joined
from interp.text import one_line


@dataclass(frozen=True)
class Verdict:
    """What a study says of one claim.

    Args:
        claim: What was claimed, as a sentence.
        published: The published value, in words; "" where nothing was published.
        ours: What was found here, in words.
        verdict: What follows, as a sentence that begins with the answer; that nothing can be
            decided and that nothing was found are answers.
    """

    claim: str
    published: str
    ours: str
    verdict: str


def verdict_list(verdicts: Sequence[Verdict]) -> Html:
    """Every claim with its numbers and what follows."""
    return joined(_verdict(each) for each in verdicts)


def side_by_side(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    """A table of words and numbers that is open to be read; its first column names the rows.

    Args:
        caption: What it is, in a few words.
        head: Titles of the columns.
        rows: As many cells each, already written as they are to be read.
    """
    titles = joined(
        Html(f'<th scope="col"{_side(i)}>{escape(one_line(title))}</th>')
        for i, title in enumerate(head)
    )
    body = joined(Html(f"<tr>{_cells(row)}</tr>") for row in rows)
    return Html(
        f'<figure class="chart"><figcaption>{escape(caption)}</figcaption>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div></figure>"
    )


def _verdict(each: Verdict) -> Html:
    terms = {
        "Published": escape(each.published),
        "Here": escape(each.ours),
        "Verdict": Html(f"<strong>{escape(each.verdict)}</strong>"),
    }
    listed = joined(
        Html(f"<dt>{name}</dt><dd>{words}</dd>") for name, words in terms.items() if words
    )
    return Html(f'<h3>{escape(each.claim)}</h3><dl class="facts">{listed}</dl>')


def _cells(row: Sequence[str]) -> Html:
    first, *others = row
    cells = [Html(f'<th scope="row">{escape(one_line(first))}</th>')]
    cells += [Html(f"<td{_side(1)}>{escape(one_line(words))}</td>") for words in others]
    return joined(cells)


def _side(column: int) -> str:
    return ' class="number"' if column else ""


def number_in_words(value: float | None, form: str = ".3f") -> str:
    """The number in this format, or that it is not defined."""
    return "not defined" if value is None else format(value, form)
