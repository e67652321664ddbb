from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.plugins.directory.cutting import Cutter
from tests.examples import examples


def raws(data, limit=100, spans_lines=False):
    return [piece.raw for piece in Cutter(limit, spans_lines).cut(data, True, 1_000)]


def test_a_line_ends_at_its_end_and_the_last_one_at_the_end_of_the_file():
    assert raws(b"a\n\nb\r\nc") == [b"a", b"", b"b\r", b"c"]
    assert Cutter(100, False).cut(b"a\nb", False, 1_000)[-1].raw == b"a"


def test_a_row_goes_on_over_line_ends_within_quotes():
    assert raws(b'1,"x\ny"\n2,z\n', spans_lines=True) == [b'1,"x\ny"', b"2,z"]


def test_what_is_too_long_is_left_out_up_to_its_end_and_told_once():
    cutter = Cutter(4, False)
    first = cutter.cut(b"ab\n1234567", False, 10)
    assert [(item.raw, item.fault) for item in first] == [(b"ab", None), (None, "longer than 4 bytes")]
    assert [(item.raw, item.fault) for item in cutter.cut(b"89\ncd\n", False, 10)] == [(None, None), (b"cd", None)]


def test_a_quote_that_is_not_closed_costs_what_is_within_the_limit_and_no_more():
    assert raws(b'1,"x\n2,y\n3,z\n4,w\n', 8, spans_lines=True) == [None, b"4,w"]


@settings(max_examples=examples(200))
@given(
    st.lists(st.sampled_from([b"a", b'"', b"\n", b"bb", b"\r", b","]), max_size=60).map(b"".join),
    st.integers(1, 12),
    st.integers(1, 6),
    st.booleans(),
)
def test_however_a_file_is_read_its_records_are_the_same(data, limit, further, spans_lines):
    whole = [piece.raw for piece in Cutter(limit, spans_lines).cut(data, True, 1_000) if piece.raw is not None]
    cutter, at, collected, block = Cutter(limit, spans_lines), 0, [], limit + further
    while at < len(data):
        pieces = cutter.cut(data[at : at + block], at + block >= len(data), 2)
        assert pieces, "a block of more than the limit leads further"
        collected += [piece.raw for piece in pieces if piece.raw is not None]
        at += sum(piece.consumed for piece in pieces)
    assert at == len(data)
    assert collected == whole
