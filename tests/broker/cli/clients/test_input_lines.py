import pytest

from broker.cli.clients.input_lines import LineRecord, LineSplitter, line_parser
from broker.cli.frame.declaration import CommandError


def split(*pieces):
    splitter = LineSplitter()
    return [line for piece in pieces for line in splitter.feed(piece)] + splitter.end()


def test_lines_end_with_lf_cr_or_both_and_the_last_with_nothing():
    assert split(b"a\nb\r\nc\rd") == [b"a", b"b", b"c", b"d"]
    assert split(b"a\n\n\r\n") == [b"a", b"", b""]
    assert split(b"") == []


@pytest.mark.parametrize("at", range(1, 12))
def test_where_input_is_cut_does_not_matter(at):
    text = b"ab\r\n\rc\n\nde\r"
    assert split(text[:at], text[at:]) == [b"ab", b"", b"c", b"", b"de"]
    assert split(*(text[index : index + 1] for index in range(len(text)))) == [b"ab", b"", b"c", b"", b"de"]


def test_a_lines_other_bytes_are_left_alone():
    assert split(b"\x0b\x0c\x1c\xc2\x85\xff\0\n") == [b"\x0b\x0c\x1c\xc2\x85\xff\0"]


def test_plain_lines_need_no_parser():
    assert line_parser({}) is None
    assert line_parser({"parse.key": "false", "key.separator": ":"}) is None


def test_the_first_separator_splits():
    parse = line_parser({"parse.key": "true"})
    assert parse(b"k\tv\tx", 1) == LineRecord(b"v\tx", b"k")
    with pytest.raises(CommandError, match=r"KafkaException: No key separator found on line number 7: 'nokey'$"):
        parse(b"nokey", 7)
    assert line_parser({"parse.key": "true", "ignore.error": "true"})(b"nokey", 1) == LineRecord(b"nokey")


def test_headers_stand_before_keys():
    parse = line_parser({"parse.key": "true", "parse.headers": "true", "key.separator": "=", "null.marker": "NULL"})
    assert parse(b"h1:a,h2:NULL\tk=v", 1) == LineRecord(b"v", b"k", [("h1", b"a"), ("h2", None)])
    assert parse(b"NULL\tNULL=NULL", 1) == LineRecord(None, None, None)
    with pytest.raises(CommandError, match="No headers delimiter found on line number 2"):
        parse(b"x", 2)
    with pytest.raises(CommandError, match="No header key separator found in pair 'h1' on line number 3"):
        parse(b"h1\tk=v", 3)
    with pytest.raises(CommandError, match="Header keys should not be equal to the null marker"):
        parse(b"NULL:a\tk=v", 4)


def test_separators_that_are_the_same_are_refused():
    with pytest.raises(CommandError, match=r"null\.marker and key\.separator may not be equal"):
        line_parser({"parse.key": "true", "null.marker": ":", "key.separator": ":"})
