"""Two texts line by line: what differs is shown, what is shared left out but for a few lines."""

from hypothesis import given
from hypothesis import strategies as st

from console.cluster.records.comparing import LINES_MAX, compare

TEXTS = st.lists(st.sampled_from("abcde"), max_size=30).map("\n".join)


def kinds(left: str, right: str) -> list[tuple]:
    return [(pair.kind, pair.left or pair.count, pair.right) for pair in compare(left, right).pairs]


def test_what_differs_stands_beside_one_another():
    assert kinds("a\nb\nc", "a\nx\nc") == [("same", "a", "a"), ("changed", "b", "x"), ("same", "c", "c")]
    assert kinds("a\nb", "a") == [("same", "a", "a"), ("left", "b", "")]
    assert kinds("a", "a\nb") == [("same", "a", "a"), ("right", 0, "b")]


def test_what_is_far_from_a_difference_is_left_out():
    shared = "\n".join(map(str, range(20)))
    result = kinds(f"{shared}\nold", f"{shared}\nnew")
    assert result[0] == ("skipped", 17, "")
    assert [item[0] for item in result[1:]] == ["same"] * 3 + ["changed"]


def test_texts_that_are_the_same_say_so():
    assert compare("a\nb", "a\nb").is_same
    assert not compare("a", "b").is_same
    assert compare("\n".join("x" * 50), "\n".join("x" * 50)).is_same


def test_of_long_texts_the_beginning_is_compared():
    result = compare("x\n" * 5_000, "x\n" * 5_000)
    assert result.is_cut
    assert not result.is_same
    assert sum(pair.count or 1 for pair in result.pairs) <= LINES_MAX


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_off_what_is_shown(left, right):
    pairs = compare(left, right).pairs
    for side, text in (("left", left), ("right", right)):
        shown = [None if pair.kind == "skipped" else getattr(pair, side) for pair in pairs if pair.kind != _other(side)]
        lines, at = text.split("\n"), 0
        skips = iter(pair.count for pair in pairs if pair.kind == "skipped")
        for line in shown:
            if line is None:
                at += next(skips)
            else:
                assert lines[at] == line
                at += 1
        assert at == len(lines)


def _other(side: str) -> str:
    return "right" if side == "left" else "left"
