import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import documents

from interp.corpus.files import FileContent
from interp.extraction.batches import Part, Rows, cut_into_parts
from interp.text import code_point_spans, encode, window_spans

CONTENTS = st.lists(
    st.one_of(st.text(max_size=60).map(str.encode), st.binary(max_size=90)), min_size=1, max_size=4
)


def parts_of(contents: list[bytes], n_ctx: int, stride: int, part_tokens: int) -> list[Part]:
    pieces = cut_into_parts(
        documents(*contents)(), n_ctx=n_ctx, stride=stride, part_tokens=part_tokens
    )
    return [Part.read(list(of_part)) for of_part in pieces]


def expected_rows(contents: list[bytes], n_ctx: int, stride: int, shift: int) -> np.ndarray:
    """doc, offset, token and the longest left context that any window offers, token by token."""
    rows = []
    for doc, content in enumerate(contents):
        spans = list(window_spans(content, n_ctx=n_ctx, stride=stride))
        for t, token in enumerate(encode(content).tolist()):
            giving = [start for start, end in spans if start + shift <= t < end + shift]
            rows.append((doc, t - 1, token, max((t - start for start in giving), default=0)))
    return np.array(rows)


def as_array(parts: list[Rows]) -> np.ndarray:
    return np.concatenate(
        [np.stack([r.doc, r.offset, r.token, r.context], axis=1) for r in parts], axis=0
    )


@settings(max_examples=150, deadline=None)
@given(contents=CONTENTS, n_ctx=st.integers(8, 24), part_tokens=st.integers(1, 80), place=st.data())
def test_every_token_has_one_row_with_the_longest_left_context(contents, n_ctx, part_tokens, place):
    stride = place.draw(st.integers(8, n_ctx))
    parts = parts_of(contents, n_ctx, stride, part_tokens)
    for shift, rows in ((0, [p.rows for p in parts]), (1, [p.next_rows for p in parts])):
        np.testing.assert_array_equal(
            as_array(rows), expected_rows(contents, n_ctx, stride, shift), f"shift {shift}"
        )


@settings(max_examples=100, deadline=None)
@given(contents=CONTENTS, batch_tokens=st.integers(1, 200), shift=st.sampled_from([0, 1]))
def test_batches_give_every_row_once_and_none_from_padding(contents, batch_tokens, shift):
    for part in parts_of(contents, 16, 8, 10**6):
        rows = part.next_rows if shift else part.rows
        given_tokens = np.full(len(rows), -1)
        windows = []
        for batch in part.batches(batch_tokens):
            ids, next_ids = batch.ids(), batch.next_ids()
            assert ids.size <= max(batch_tokens, ids.shape[1])
            mask, row = batch.taken(rows)
            lengths = part.length[batch.windows]
            assert not mask[np.arange(ids.shape[1]) >= lengths[:, None]].any()
            assert (given_tokens[row] == -1).all(), "a row is given twice"
            given_tokens[row] = (next_ids if shift else ids)[mask]
            windows += batch.windows.tolist()
        assert sorted(windows) == list(range(len(part.length)))
        undefined = (rows.offset == -1) if shift else np.zeros(len(rows), dtype=bool)
        np.testing.assert_array_equal(given_tokens, np.where(undefined, -1, rows.token))


@settings(max_examples=100, deadline=None)
@given(text=st.text(min_size=1), n_ctx=st.integers(8, 20))
def test_windows_and_parts_never_cut_a_code_point(text, n_ctx):
    content = text.encode()
    starts = {0, 1, len(content) + 1} | {int(s) + 1 for s in code_point_spans(content)[:, 0]}
    for pieces in cut_into_parts(documents(content)(), n_ctx=n_ctx, stride=8, part_tokens=20):
        for piece in pieces:
            assert {edge for span in piece.spans for edge in span} <= starts


def test_the_cuts_do_not_depend_on_what_comes_after():
    contents = [b"a" * 100, b"b" * 300, b"c" * 50]
    all_parts = parts_of(contents, 16, 8, 64)
    first_two = parts_of(contents[:2], 16, 8, 64)
    for ours, theirs in zip(all_parts, first_two[:-1], strict=False):
        np.testing.assert_array_equal(ours.tokens, theirs.tokens)


def test_a_file_is_read_as_the_bytes_in_it(tmp_path):
    content = "人工智能 and more ".encode() * 40
    (tmp_path / "text").write_bytes(content)
    with (tmp_path / "text").open("rb") as file:
        in_file = FileContent(file, "text")
    (part,) = parts_of([in_file], 16, 8, 10**6)
    np.testing.assert_array_equal(part.rows.token, encode(content))
