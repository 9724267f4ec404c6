from interp.segmentation import find_segmenter


def test_a_word_ends_before_what_is_no_part_of_it():
    content = b"A don't cost 1,000.5 (two-part)."
    gaps = find_segmenter("en").gaps(content)
    before = [content[token - 2 : token - 1] for token in gaps.tokens.tolist()]
    assert b"".join(before) == b"Adon'tcost1,000.5twopart"
    ends = [content[token - 2 : token] for token in gaps.tokens[gaps.is_boundary].tolist()]
    assert ends == [b"A ", b"t ", b"t ", b"5 ", b"o-", b"t)"]


def test_accents_belong_to_their_letter_and_other_scripts_to_no_word():
    content = "cafe\u0301 中国 ’s x’".encode()
    gaps = find_segmenter("en").gaps(content)
    judged = {
        content[: token - 1].decode(): bool(is_end)
        for token, is_end in zip(gaps.tokens.tolist(), gaps.is_boundary, strict=True)
    }
    assert judged == {
        "c": False,
        "ca": False,
        "caf": False,
        "cafe\u0301": True,
        "cafe\u0301 中国 ’s": True,
        "cafe\u0301 中国 ’s x": True,
    }


def test_the_last_character_has_no_gap():
    assert find_segmenter("en").gaps(b"a").tokens.tolist() == []
    assert find_segmenter("en").gaps(b"").tokens.tolist() == []
