"""The program ``interp``: its commands, and the one place where errors become lines."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import interp
from interp.cli.ablate import ablate
from interp.cli.byte_classes import byte_classes
from interp.cli.count import count
from interp.cli.demo import demo
from interp.cli.entity_order import entity_order
from interp.cli.extract import extract
from interp.cli.gallery import gallery
from interp.cli.heads import heads
from interp.cli.import_ import import_checkpoint
from interp.cli.inspect import inspect
from interp.cli.loss_by_position import loss_by_position
from interp.cli.merge import merge
from interp.cli.output import INTERRUPTED, STANDARD_OUTPUT, use_any_encoding
from interp.cli.reference_agreement import reference_agreement
from interp.cli.report import report
from interp.cli.study import study
from interp.cli.token_classes import token_classes
from interp.cli.train import train
from interp.cli.train_family import train_family
from interp.cli.verify_encoding import verify_encoding
from interp.cli.word_boundary_auc import word_boundary_auc
from interp.errors import InterpError, is_out_of_memory, reason

app = typer.Typer(
    name="interp",
    help="How far apart does a language model think its tokens are?\n\n"
    "Train, read, test and draw models whose rotary positions advance by a learned increment.",
    epilog="Start with: interp demo",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        sys.stdout.write(f"interp {interp.__version__}\n")
        raise typer.Exit


@app.callback()
def _interp(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def _add(name: str, command: Any, summary: str, example: str) -> None:
    app.command(name, short_help=summary, epilog=f"Example: {example}")(command)


_add("demo", demo, "The main job on the embedded text and model.", "interp demo")
_add(
    "report",
    report,
    "A page about a text.",
    'interp report --text "Marie Curie, a physicist." --out page.html',
)
_add("gallery", gallery, "An index over a folder of pages.", "interp gallery my-pages")
_add("byte-classes", byte_classes, "Increments by class of byte.", "interp byte-classes book.txt")
_add(
    "token-classes",
    token_classes,
    "Increments by class of token of source code.",
    "interp token-classes --ckpt checkpoints/python-per-layer module.py",
)
_add(
    "word-boundary-auc",
    word_boundary_auc,
    "Do increments know where words end?",
    "interp word-boundary-auc --lang zh novel.txt",
)
_add(
    "entity-order",
    entity_order,
    "Are the two words of a name spaced as one?",
    "interp entity-order --ckpt checkpoints/en-zh-per-layer",
)
_add(
    "heads",
    heads,
    "Do heads that step further attend nearer?",
    "interp heads --ckpt checkpoints/en-zh-per-layer-per-head book.txt",
)
_add(
    "count",
    count,
    "Keep a text's counts of letters and pairs.",
    "interp count --corpus 'zh-*.parquet' --out counts.parquet",
)
_add(
    "ablate",
    ablate,
    "Does the loss care what the increments are?",
    "interp ablate --corpus articles.parquet --intervention mean",
)
_add(
    "loss-by-position",
    loss_by_position,
    "What is context worth, and how far does it last?",
    "interp loss-by-position --ckpt my-model --length 1024 --held-out book.txt",
)
_add(
    "reference-agreement",
    reference_agreement,
    "Do two references end words alike?",
    "interp reference-agreement --reference jieba --reference ud:treebank.conllu",
)
_add(
    "extract",
    extract,
    "Keep the increments of a text as Parquet.",
    "interp extract book.txt --out book-increments",
)
_add(
    "merge",
    merge,
    "Join the shards of an extraction.",
    "interp merge shard-0 shard-1 --out book-increments",
)
_add("inspect", inspect, "What a checkpoint is.", "interp inspect checkpoints/en-zh-per-layer")
_add(
    "import",
    import_checkpoint,
    "Read the public experiment's checkpoint.",
    "interp import checkpoint.pt --out my-checkpoint",
)
_add(
    "train",
    train,
    "Train a model from a recipe.",
    "interp train two-cores --out my-model --set optimization.steps=5000",
)
_add(
    "train-family",
    train_family,
    "Train position encodings side by side.",
    "interp train-family family-characters --out my-family --encodings rope,alibi --seeds 0,1,2",
)
_add(
    "verify-encoding",
    verify_encoding,
    "Does an encoding keep its promises?",
    "interp verify-encoding increments",
)
_add(
    "study",
    study,
    "Ask the trained models a question.",
    "interp study all --corpus en=en.parquet --corpus zh=zh.parquet --out my-studies",
)


def main(arguments: Sequence[str] | None = None, *, program: typer.Typer = app) -> None:
    """Run the command line and exit with its status.

    0 is success, 1 something that could not be done, 2 a command that was not understood, 130
    an interruption.

    Args:
        arguments: Instead of those of the process.
        program: What understands them.
    """
    use_any_encoding()
    status = 0
    try:
        status = _run(program, arguments)
        sys.stdout.flush()
    except OSError as error:
        # whoever reads has read enough, or the disk is full; at exit it would be tried again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not status and not isinstance(error, BrokenPipeError):
            _say(f"{STANDARD_OUTPUT}: {reason(error)}")
        status = status or 1
    sys.exit(status)


def _run(program: typer.Typer, arguments: Sequence[str] | None) -> int:
    """The exit status of the command; its errors are said on standard error."""
    try:
        status = program(args=arguments, prog_name=program.info.name, standalone_mode=False)
    except InterpError as error:
        _say(str(error), error.hint)
        return error.exit_status
    except BrokenPipeError:
        raise
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _say(f"{name}{reason(error)}")
        return 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    except Exception as error:
        if is_out_of_memory(error):
            _say(
                "there is not enough memory for this",
                "Read shorter windows (--window, --length), less text at a time, or on another "
                "--device.",
            )
            return 1
        if not hasattr(error, "format_message"):  # typer's own, under any of its versions
            if type(error).__name__ != "Abort":
                raise
            status = INTERRUPTED
        elif type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            return 2
        else:
            context = getattr(error, "ctx", None)
            path = context.command_path if context is not None else "interp"
            _say(error.format_message(), f"Try: {path} --help")  # type: ignore[attr-defined]
            return 2
    if status == INTERRUPTED:
        _say("interrupted")
    return status if isinstance(status, int) else 0


def _say(message: str, hint: str | None = None) -> None:
    from interp.text import one_line

    lines = [f"interp: {message}", *([hint] if hint else [])]
    sys.stderr.writelines(f"{one_line(line)}\n" for line in lines)
