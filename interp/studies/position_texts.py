"""The short texts whose characters a study draws: two of the essay, six for what those lack."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ShownText:
    """A short text.

    Attributes:
        title: What it shows, in a few words.
        words: The text.
        language: Its language tag.
    """

    title: str
    words: str
    language: str = "en"


ENGLISH = ShownText(
    "The English sentence of the essay",
    "Marie Curie, a Polish-born physicist, won two Nobel Prizes.",
)
CHINESE = ShownText(
    "The Chinese sentence of the essay", "人工智能是计算机科学的一个分支。", language="zh"
)

TEXTS = (
    ENGLISH,
    CHINESE,
    ShownText("Capitals", "NASA and the BBC use an IBM computer; McDonald and iPhone are NAMES."),
    ShownText("A list", "Shopping list:\n- red apples\n- green pears\n- bread, milk, salt"),
    ShownText("A quotation", '"I don\'t know," she said, "but he asked: \'Is this true?\'"'),
    ShownText("Numbers and dates", "On 14 July 1789, or 1789-07-14, it cost 3.14 or 1,000,000."),
    ShownText(
        "English and Chinese mixed",
        "我用 Python 写了一个 Transformer，它有六层 (six layers)。",
        "zh",
    ),
    ShownText("Code", "def area(r):\n    # of a circle\n    return 3.14 * r ** 2"),
)
"""In the order of the page."""
