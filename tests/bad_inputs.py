"""Inputs that broke other tools, one of each kind, written here so that no file need be shipped.

``TEXTS`` are texts that must be read, down to the last byte. ``NOT_TEXTS`` must be refused in
one line, and nothing in them may ever run: the pickles leave a mark if they do.
"""

import builtins
import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

TEXTS: dict[str, bytes] = {
    "empty.txt": b"",
    "bom-crlf.txt": b"\xef\xbb\xbfOne line.\r\n" + "两行。\r\n".encode(),
    "two-boms.txt": b"\xef\xbb\xbf\xef\xbb\xbftext",
    "only-bom.txt": b"\xef\xbb\xbf",
    "truncated-character.txt": "汉字在这里断".encode()[:-1],
    "lone-surrogates.txt": b"high \xed\xa0\xbd low \xed\xb8\x80 end",
    "gbk.txt": "汉字编码".encode("gbk"),
    "utf-16.txt": "UTF-16 汉字".encode("utf-16"),
    "overlong.txt": b"slash \xc0\xaf, past the end \xf5\x80\x80\x80",
    "nul-and-controls.txt": b"NUL \x00 bell \x07 escape \x1b]0;title\x07\x1b[2J delete \x7f",
    "bidi.txt": "left \u202eright\u2066 mixed \u200f\u2028 end".encode(),
    "emoji-families.txt": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏾 🇨🇭🇯🇵 ❤️".encode(),
    "combining.txt": "e\u0301 o\u0302\u0301 \u0e01\u0e33 \u1112\u1161\u11ab \u0301".encode(),
    "many-combining.txt": ("a" + "\u0301\u0323" * 300).encode(),
    "markup.txt": (
        b"<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
        b"</textarea></svg>&lt;&#60; $\\frac{a}{b}$ `tick` {{braces}} %s {0} ]]> <!-- -->"
    ),
    "one-class-zh.txt": "是是是是是是".encode(),
    "no-chinese.txt": b"Not a Chinese character in sight.\n",
    "one-character.txt": "字".encode(),
    "rare-ideographs.txt": "一〇𠀀二㐀三鿖四\uf900五々𪚥".encode(),
    "one-long-line.txt": ("长行没有尽头，" * 3000 + "and no newline " * 2000).encode(),
    "only-newlines.txt": b"\n" * 50,
    "only-continuations.txt": b"\x80\xbf" * 40,
}

N_INVALID_BYTES: dict[str, int] = {
    "truncated-character.txt": 2,
    "lone-surrogates.txt": 6,
    "gbk.txt": 6,
    "overlong.txt": 6,
    "only-continuations.txt": 80,
}
"""How many bytes of a text are no valid UTF-8, counted by hand."""

HOSTILE_NAMES = (
    "new\nline.txt",
    "escape\x1b[31m.txt",
    "<b>markup&.txt",
    "[1]*?.txt",
    "-.txt",
    " spaces .txt",
    "名字.txt",
    "right\u202eleft.txt",
    "a::b.txt",
)
"""File names that a terminal, a page, a glob or a library could take for something else."""


class _Runs:
    """What it pickles to calls ``exec`` when it is loaded."""

    def __reduce__(self) -> tuple[Callable, tuple[str]]:
        return exec, ("import builtins; builtins.bad_input_ran = True",)


def has_run_code() -> bool:
    """Whether one of the pickles was loaded since the process started."""
    return hasattr(builtins, "bad_input_ran")


def _torch_archive(pickled: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        members = {"data.pkl": pickled, "version": b"3\n", "byteorder": b"little"}
        for name, content in members.items():
            files.writestr(zipfile.ZipInfo(f"archive/{name}"), content)
    return archive.getvalue()


_SAFETENSORS_HEADER = b'{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'

NOT_TEXTS: dict[str, bytes] = {
    "lfs-pointer.safetensors": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
    ),
    "truncated-header.safetensors": (5000).to_bytes(8, "little") + _SAFETENSORS_HEADER,
    "truncated-values.safetensors": (
        len(_SAFETENSORS_HEADER).to_bytes(8, "little") + _SAFETENSORS_HEADER + bytes(7)
    ),
    "runs-code.pt": _torch_archive(pickle.dumps(_Runs(), protocol=2)),
    "runs-code.pkl": pickle.dumps(_Runs(), protocol=4),
    "image.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "text.txt.gz": b"\x1f\x8b\x08\x00" + bytes(16),
    "page.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "program": b"\x7fELF\x02\x01\x01" + bytes(20),
}


def write_bad_input(folder: Path, name: str) -> str:
    """Writes the bad input of a name into ``folder`` and gives its path."""
    path = folder / name
    path.write_bytes((TEXTS | NOT_TEXTS)[name])
    return str(path)
