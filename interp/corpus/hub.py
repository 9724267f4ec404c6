"""Data sets on the Hugging Face Hub, streamed through ``datasets`` at a pinned revision."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from interp.corpus.rows import Row, first_line, row_from_object
from interp.errors import InputError, UsageError
from interp.text import one_line

PREFIX = "hub:"

TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class HubCorpus:
    """A data set on the Hub: ``hub:OWNER/NAME`` or ``hub:OWNER/NAME/CONFIG``, split ``train``."""

    repo: str
    config: str | None = None

    @classmethod
    def parse(cls, spec: str) -> "HubCorpus":
        """Reads an address that starts with ``hub:``.

        Raises:
            UsageError: It is not of that form.
        """
        match = re.fullmatch(r"hub:([\w.-]+/[\w.-]+)(?:/([\w.,=+-]+))?", spec, re.ASCII)
        if match is None:
            raise UsageError(
                f"not the address of a data set: {one_line(spec)}",
                "Write hub:OWNER/NAME/CONFIG, such as hub:wikimedia/wikipedia/20231101.zh.",
            )
        return cls(match[1], match[2])

    @property
    def address(self) -> str:
        """The address as it is written."""
        return PREFIX + self.repo + (f"/{self.config}" if self.config else "")

    def revision(self) -> str:
        """The commit that the data set is at now; also the quick check that it can be reached.

        ``load_dataset`` retries for half a minute without a network; this answers at once.

        Raises:
            InputError: No network, no such data set, or no access to it.
        """
        from huggingface_hub import HfApi

        try:
            commit = HfApi().dataset_info(self.repo, timeout=TIMEOUT_SECONDS).sha
        except Exception as error:  # the HTTP client's own errors share no base class
            raise self._error(error) from error
        if commit is None:
            raise InputError(f"cannot read {self.address}: the Hub gives no revision for it")
        return commit

    def rows(self, revision: str) -> Iterator[Row]:
        """The rows of the split ``train``, streamed: nothing is downloaded beyond what is read.

        Args:
            revision: A commit, as `revision` gave it.

        Raises:
            InputError: It cannot be reached or read, or its rows have no text.
        """
        import datasets

        with _without_progress_bars():
            try:
                stream = iter(
                    datasets.load_dataset(
                        self.repo, self.config, split="train", streaming=True, revision=revision
                    )
                )
            except Exception as error:  # the library raises whatever its readers raise
                raise self._error(error) from error
        number = 0
        while True:
            try:
                value = next(stream)
            except StopIteration:
                return
            except Exception as error:  # as above
                raise self._error(error) from error
            yield row_from_object(dict(value), where=f"{self.address}, row {number}")
            number += 1

    def _error(self, error: Exception) -> InputError:
        """One line from what ``datasets`` or the Hub's client raised, with what to do."""
        status = getattr(getattr(error, "response", None), "status_code", None)
        words = first_line(str(error))
        if isinstance(error, ValueError):  # no such config or split: the message lists them
            words = one_line(" ".join(str(error).split())[:500])
            hint = "The config is the last part of hub:OWNER/NAME/CONFIG; the split is train."
        elif status in (401, 403, 404):
            words = "there is no such data set, or it needs a login"
            hint = "Check the name; for a private or gated one, log in with: hf auth login"
        else:
            hint = "It needs the network; a downloaded Parquet or JSON lines file does not."
        return InputError(f"cannot read {self.address} from the Hugging Face Hub: {words}", hint)


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """The library never prints: the bars of ``datasets`` are off inside, then as before."""
    import datasets

    were_disabled = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if not were_disabled:
            datasets.enable_progress_bars()
