"""``interp reference-agreement``: do two references end words at the same places?"""

from typing import Annotated

import typer

from interp.cli.options import (
    CorpusOption,
    CsvOption,
    FilesArgument,
    JsonOption,
    LimitOption,
    QuietOption,
)


def reference_agreement(
    files: FilesArgument = None,
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="Whose words: en, ja, th or zh.  [default: zh]",
            show_default=False,
        ),
    ] = "zh",
    reference: Annotated[
        list[str] | None,
        typer.Option(
            "--reference",
            metavar="SPEC",
            help="Who says where words end; given twice. zh: jieba, jieba-without-hmm, each with "
            ":DICT for words of your own; ja: sudachi; th: budoux; en: delimiters, spaces; in all "
            "of them ud:FILE.conllu (a treebank, which brings its own text) and segmented:FILE "
            "(the words of the text, separated by spaces).",
        ),
    ] = None,
    corpus: CorpusOption = None,
    limit: LimitOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    quiet: QuietOption = False,
) -> None:
    """How often the first reference ends a word where the second does, over gaps that both judge.

    Agreement, Cohen's kappa, precision, recall and F1 of the first as judged by the second, and how
    often each ends a word, with 95 % intervals clustered by document. A treebank without documents
    has blocks of ten sentences instead. What is not defined is shown as —, with the reason.
    """
    from interp.cli.output import Output
    from interp.cli.reading import reference_of, text_input
    from interp.errors import UsageError

    output = Output.chosen(as_json=as_json, as_csv=as_csv, quiet=quiet)
    specs = reference or []
    if len(specs) != 2:
        raise UsageError(
            f"two references are compared, and {len(specs)} given",
            "Give two, such as: --reference jieba --reference ud:FILE.conllu",
        )
    text = text_input(files, corpus, limit)
    first, second = (reference_of(lang, spec, has_text=not text.is_sample) for spec in specs)

    from interp.analyses import agreement
    from interp.cli.rendering import agreement_tables

    contents = (bytes(document.content[:]) for document in text.documents(output.warn))
    found = agreement.reference_agreement(first, second, contents)
    output.result(found, lambda: agreement_tables(found, judged=first.judged))
