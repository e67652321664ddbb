import pytest

from broker.cli.clients.record_formatters import DEFAULT_FORMATTER, formatter
from broker.cli.frame.declaration import CommandError
from tests.broker.cli.consumed import Consumed

ALL = {f"print.{name}": "true" for name in ("timestamp", "partition", "offset", "headers", "key")}


def shown(properties, *records, name=DEFAULT_FORMATTER):
    made, _warning = formatter(name, properties)
    return made(records).decode()


def test_values_are_bytes_one_a_line():
    made, warning = formatter(DEFAULT_FORMATTER, {})
    assert made([Consumed(b"a\xff"), Consumed(None), Consumed(b"")]) == b"a\xff\nnull\n\n"
    assert warning == ""


def test_all_columns_in_kafkas_order():
    record = Consumed(b"v", b"k", [("h1", b"a"), ("h2", None)])
    assert shown(ALL, record) == "CreateTime:1795315839554\tPartition:0\tOffset:9\th1:a,h2:null\tk\tv\n"


def test_what_is_not_there_has_a_word():
    record = Consumed(None, None, None, (0, -1))
    assert shown({**ALL, "null.literal": "-"}, record) == "NO_TIMESTAMP\tPartition:0\tOffset:9\tNO_HEADERS\t-\t-\n"


def test_separators_deserializers_and_a_value_that_is_left_out():
    chosen = {"print.key": "True", "key.separator": " | ", "line.separator": ";", "headers.separator": "+"}
    assert shown({**chosen, "key.deserializer": "IntegerDeserializer"}, Consumed(b"v", b"\0\0\0\2")) == "2 | v;"
    assert shown({**chosen, "print.value": "false"}, Consumed(b"v", b"k")) == "k;"
    assert shown({"print.value": "no"}, Consumed()) == ""
    assert shown(
        {"print.headers": "true", "headers.separator": "+"}, Consumed(headers_=[("a", b"1"), ("b", b"2")])
    ) == ("a:1+b:2\tv\n")


def test_names_of_before_are_known_and_warned_of():
    made, warning = formatter("kafka.tools.DefaultMessageFormatter", {})
    assert made([Consumed()]) == b"v\n"
    assert warning.startswith("WARNING: kafka.tools.DefaultMessageFormatter is deprecated")
    assert shown({}, Consumed(), name="kafka.tools.NoOpMessageFormatter") == ""
    assert shown({}, Consumed(), name="kafka.tools.ChecksumMessageFormatter") == "topic:t, checksum:-1\n"
    with pytest.raises(CommandError, match=r"Class com\.acme\.Mine could not be found"):
        formatter("com.acme.Mine", {})
