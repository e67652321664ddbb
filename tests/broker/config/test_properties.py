from broker.config.properties import parse_properties, unescaped


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
    assert unescaped({"a": r"\t", "b": r"\u0001\n", "c": r"x\:y\\"}) == {"a": "\t", "b": "\x01\n", "c": "x:y\\"}
