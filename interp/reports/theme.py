"""One theme: the colours of byte classes on light and dark paper, fonts, style sheet, scripts."""

from functools import cache
from importlib import resources

from interp import text
from interp.errors import InterpError

MODES = ("light", "dark")
"""The two looks of everything; which one is shown is the reader's setting or choice."""

PAPER = {
    "light": {
        "paper": "#faf9f6",
        "card": "#ffffff",
        "ink": "#1f2328",
        "soft": "#4d545e",
        "muted": "#69707b",
        "hair": "#dfddd6",
        "wash": "#f6f4f0",
        "accent": "#00639f",
    },
    "dark": {
        "paper": "#131519",
        "card": "#1a1d22",
        "ink": "#e9e7e2",
        "soft": "#bfc3ca",
        "muted": "#949ba6",
        "hair": "#30343b",
        "wash": "#22262c",
        "accent": "#74b9f2",
    },
}
"""Colours by mode: text on ``paper``, ``card`` or ``wash`` has a contrast of 4.5 or more."""

CLASS_COLORS = {
    "lowercase, word-initial": ("#0064a8", "#6cb6f5"),
    "lowercase, word-internal": ("#5c6470", "#a3abb6"),
    "uppercase": ("#b84300", "#ff9a5c"),
    "digit": ("#9a3b83", "#e3a0cf"),
    "space": ("#2275a6", "#56b4e9"),
    "newline": ("#0b7785", "#4fc3cf"),
    ". ! ?": ("#00755a", "#3ecf9f"),
    ", ; : -": ("#7d6500", "#d9c04a"),
    "other ASCII": ("#7a5a44", "#c9a283"),
    "lead E4-E9": ("#1f2328", "#e9e7e2"),
    "lead, other": ("#6a4fa0", "#b9a3f0"),
    "continuation after E4-E9": ("#69707b", "#949ba6"),
    "continuation, other": ("#7865a3", "#9a8bc4"),
    "invalid byte": ("#b3123f", "#ff7a95"),
    "separator": ("#4d545e", "#bfc3ca"),
}
"""Light and dark colour of every class: the Okabe-Ito hues, darkened or lightened to be read.

Where hues come close the glyph tells: capitals and sentence punctuation are bold, spaces and
newlines are marks, invalid bytes are boxed.
"""

CHARACTER_LABELS = {
    "lead E4-E9": "CJK (lead E4–E9)",
    "lead, other": "other non-ASCII",
}
"""How a class of first bytes is called where it stands for whole characters."""

BOLD_CLASSES = ("uppercase", ". ! ?", ", ; : -")

PLOTLY = "plotly-basic.min.js"
"""The script that draws charts, as it lies among this package's files."""

SANS = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, '
    '"PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif'
)
SERIF = (
    '"Iowan Old Style", "Palatino Linotype", Palatino, Charter, "Source Serif 4", '
    '"Noto Serif", Georgia, "Songti SC", "Noto Serif CJK SC", "DejaVu Serif", serif'
)
MONO = (
    'ui-monospace, "SF Mono", SFMono-Regular, Menlo, "Cascadia Mono", Consolas, '
    '"Noto Sans Mono", "DejaVu Sans Mono", "Liberation Mono", "Noto Sans Mono CJK SC", '
    '"Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "Apple Color Emoji", '
    '"Segoe UI Emoji", "Noto Color Emoji", "Segoe UI Symbol", "Apple Symbols", '
    '"Noto Sans Symbols 2", "Noto Sans Symbols2", "DejaVu Sans", monospace'
)


def class_color(name: str, mode: str) -> str:
    """The colour of the byte class ``name`` on paper of ``mode``."""
    return CLASS_COLORS[name][MODES.index(mode)]


def label_of_character_class(name: str) -> str:
    """What a legend of characters calls the byte class ``name``."""
    return CHARACTER_LABELS.get(name, name)


@cache
def style_sheet() -> str:
    """The style sheet of pages and plots; everything in it holds inside ``.interp`` only."""
    light, dark = (_variables(mode) for mode in MODES)
    fonts = f"--sans:{SANS};--serif:{SERIF};--mono:{MONO};"
    return "\n".join(
        [
            f".interp{{color-scheme:light;{fonts}{light}}}",
            "@media (prefers-color-scheme:dark){"
            f'.interp:not([data-theme="light"]){{color-scheme:dark;{dark}}}}}',
            f'.interp[data-theme="dark"]{{color-scheme:dark;{dark}}}',
            *_class_rules(),
            asset("positions.css"),
            asset("page.css"),
        ]
    )


@cache
def asset(name: str) -> str:
    """The text of one of this package's style sheets or scripts.

    Raises:
        InterpError: The installation lacks it.
    """
    try:
        return resources.files("interp.reports").joinpath("assets", name).read_text("utf-8")
    except OSError as error:
        raise InterpError(
            f"report: the file reports/assets/{name} is missing from this installation",
            "install the package again",
        ) from error


def _variables(mode: str) -> str:
    page = "".join(f"--{name}:{value};" for name, value in PAPER[mode].items())
    classes = (f"--c{i}:{class_color(name, mode)};" for i, name in enumerate(text.BYTE_CLASSES))
    return page + "".join(classes)


def _class_rules() -> list[str]:
    rules = []
    for index, name in enumerate(text.BYTE_CLASSES):
        weight = "font-weight:700;" if name in BOLD_CLASSES else ""
        rules.append(f".interp .c{index}{{--class:var(--c{index});{weight}}}")
        rules.append(f".interp .filtered.on{index} .plot .c{index}.c{index}{{opacity:1}}")
    return rules
