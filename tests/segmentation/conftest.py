from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def cache_folder_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERP_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def treebank_file(tmp_path: Path) -> Callable[..., str]:
    """Writes a treebank: sentences as words separated by ``|``, other lines as comments.

    A word with a space after it has one in the text too.
    """

    def write(*lines: str, name: str = "small") -> str:
        blocks, comments = [], []
        for line in lines:
            if line.startswith("#"):
                comments.append(line)
                continue
            words = line.split("|")
            rows = [f"# text = {''.join(words).rstrip()}"]
            for number, word in enumerate(words, 1):
                misc = "_" if word.endswith(" ") else "SpaceAfter=No"
                rows.append("\t".join([str(number), word.rstrip(), *["_"] * 7, misc]))
            blocks.append("\n".join([*comments, *rows]) + "\n\n")
            comments = []
        path = tmp_path / f"{name}.conllu"
        path.write_text("".join(blocks), "utf-8")
        return str(path)

    return write
