"""``interp count``: which letters stand beside which in a large text, into a file."""

from typing import Annotated

import typer

from interp.cli.options import (
    CorpusOption,
    FilesArgument,
    JsonOption,
    LimitOption,
    QuietOption,
)


def count(
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="The Parquet file to keep the counts in.")
    ],
    files: FilesArgument = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    min_count: Annotated[
        int,
        typer.Option(
            "--min-count",
            metavar="N",
            help="Drop pairs seen fewer than N times, for a small file. How often each letter "
            "stood in one stays known.",
        ),
    ] = 1,
    licence: Annotated[
        str,
        typer.Option("--licence", metavar="WORDS", help="Of the text, to be kept with the counts."),
    ] = "",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Count letters and pairs of neighbouring letters of a text, the more text the better.

    From such counts come baselines for word boundaries that need no model: how much more often
    than chance two letters meet, and how many others stand beside each. Those of Chinese
    Wikipedia are shipped.
    """
    from interp.cli.output import JSON, Output, write_utf8
    from interp.cli.reading import refuse_replacing, text_input

    output = Output.chosen(as_json=as_json, as_csv=False, quiet=quiet)
    given = text_input(files, corpus, limit)
    from interp.analyses.count_characters import count_characters
    from interp.studies.reading import Warnings, documents_of, stage
    from interp.text import one_line

    refuse_replacing(out, files, corpus)
    warnings = Warnings(output.warn)
    with output.progress() as progress:
        say = stage("counting", progress)
        counts = count_characters(
            documents_of(given, warnings),
            min_count=min_count,
            licence=licence,
            progress=lambda n_bytes: say(n_bytes, None),
        )
    counts.write(out)
    summary = counts.summary()
    if output.format == JSON:
        import json

        write_utf8(json.dumps(summary, indent=1) + "\n")  # escaped: sources may be called anything
    else:
        from interp.cli.rendering import fact_table

        output.show([fact_table([(name, one_line(_shown(v))) for name, v in summary.items()])])
    output.remark(f"counts: {out}")


def _shown(value: str | int | list[str]) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else value
