import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import DataError
from broker.connect.plugins.directory.parsing import CsvParser, parse_json, parse_line, split_row
from tests.examples import examples


@settings(max_examples=examples(200))
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r")), min_size=2, max_size=5))
def test_a_row_that_pythons_csv_writes_is_read_back(fields):
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(fields)
    assert split_row(out.getvalue(), ",") == fields


def test_a_row_is_a_struct_of_the_columns_that_the_first_row_names():
    parse = CsvParser(b"id;name\r", ";")
    schema, value = parse(b'1;"a;""b"""\r')
    assert [field.name for field in schema.fields] == ["id", "name"]
    assert dict(value) == {"id": "1", "name": 'a;"b"'}
    assert parse(b"\r") is None


@pytest.mark.parametrize("row", [b"1", b"1,2,3", b'1,"2', b'1,"2"3', b'1,2"3"', b"1,\xff"])
def test_a_row_that_can_be_read_in_two_ways_or_in_none_is_refused(row):
    with pytest.raises(DataError):
        CsvParser(b"a,b", ",")(row)


@pytest.mark.parametrize("header", [b"a,a", b"a,", b"\xff,b", b",".join(b"%d" % n for n in range(2_001))])
def test_columns_without_a_name_of_their_own_are_refused(header):
    with pytest.raises(DataError):
        CsvParser(header, ",")


def test_a_line_of_json_is_its_value_and_a_blank_one_is_none():
    assert parse_json(b'{"a": [1, 2.5, null]}\r') == (None, {"a": [1, 2.5, None]})
    assert parse_json(b" \r") is None


@pytest.mark.parametrize("text", [b"{", b"NaN", b"1e999", b"[" * 100_000, b"1" * 5_000, b'"\xff"', b"1 2"])
def test_what_is_no_json_is_refused_however_it_is_meant(text):
    with pytest.raises(DataError):
        parse_json(text)


def test_a_line_that_is_not_utf_8_is_refused_and_not_changed():
    with pytest.raises(DataError, match="UTF-8"):
        parse_line(b"\x80abc")
