import pytest

from broker.config.properties import parse_properties, properties_text


def test_comments_blank_lines_and_spaces_do_not_count():
    assert parse_properties("# note\n\n! also a note\n  a = 1 \nb=\n") == {"a": "1", "b": ""}


def test_a_backslash_continues_a_line():
    assert parse_properties("a=1,\\\n  2\nb=3") == {"a": "1,2", "b": "3"}


def test_a_value_may_hold_the_equals_sign():
    assert parse_properties("jaas=user=alice") == {"jaas": "user=alice"}


def test_the_later_line_wins():
    assert parse_properties("a=1\na=2") == {"a": "2"}


def test_only_a_newline_ends_a_line():
    assert parse_properties("a=1\r\nb=2\rc=3\u2028d=4\x0be=5\n") == {"a": "1", "b": "2", "c": "3\u2028d=4\x0be=5"}


def test_separators_in_files_are_escaped_as_java_reads_them():
    assert parse_properties("a=\\t\nb=\\u0001\\n\nc=x\\:y\\\\\nd\\ e\\=f=\\ud83d\\ude00") == {
        "a": "\t",
        "b": "\x01\n",
        "c": "x:y\\",
        "d e=f": "\U0001f600",
    }


def test_a_colon_or_a_blank_separates_as_well():
    assert parse_properties("a: 1\nb 2\nc\t=3\nd = : 4\ne\n") == {"a": "1", "b": "2", "c": "3", "d": ": 4", "e": ""}


def test_a_line_goes_on_behind_an_odd_number_of_backslashes_only_and_no_comment_does():
    assert parse_properties("a=C:\\\\\nb=1\n# note \\\nc=2\\\n# 3\n") == {"a": "C:\\", "b": "1", "c": "2# 3"}


def test_blanks_at_the_end_count_only_if_they_are_escaped():
    assert parse_properties("a=1 \t\nb=\\ \nc=x\\   \n") == {"a": "1", "b": " ", "c": "x "}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a", " b "),
        ("a b", "c=d:e"),
        ("#a", "#"),
        ("!", "\\"),
        ("k", "one\ntwo\r\n\tthree\f"),
        ("a->b.topics", r"orders\..*"),
        ("ü", "\u2028\x85\x00\U0001f600"),
        ("", " "),
    ],
)
def test_what_is_written_is_read_again(key, value):
    text = properties_text({key: value, "next": "1"})
    assert len(text.splitlines()) == 2
    assert parse_properties(text) == {key: value, "next": "1"}
