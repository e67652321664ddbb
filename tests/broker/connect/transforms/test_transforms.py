from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.common.bounded_patterns import TooManyWays
from broker.connect.api import ConfigError, DataError, Field, Header, Schema, SinkRecord, Struct, Type
from broker.connect.api import schema as types
from broker.connect.plugins import PluginKind, lookup
from broker.connect.transforms.patterns import java_regex, java_replacement

NOON = 1_718_452_800_000  # 2024-06-15T12:00:00Z
POINT = Schema(Type.STRUCT, fields=(Field("x", types.INT32), Field("y", Schema(Type.STRING, optional=True))))


def record(value, schema=None, key=None, key_schema=None, topic="orders", headers=()):
    return SinkRecord(topic, 1, 7, key_schema, key, schema, value, NOON, headers)


def applied(name, given_record, **props):
    transform = lookup(name, PluginKind.TRANSFORMATION)()
    transform.configure({key.replace("_", "."): value for key, value in props.items()})
    return transform.apply(given_record)


CASES = [
    ("Cast$Value", {"spec": "x:string"}, {"x": 1}, {"x": "1"}),
    ("Cast$Value", {"spec": "int32"}, "5", 5),
    ("ExtractField$Value", {"field": "x"}, {"x": 1}, 1),
    ("ExtractField$Value", {"field": "a.`b.c`", "field_syntax_version": "V2"}, {"a": {"b.c": 3}}, 3),
    ("Flatten$Value", {}, {"a": {"b": 1, "c": {"d": 2}}}, {"a.b": 1, "a.c.d": 2}),
    ("HoistField$Value", {"field": "f"}, 1, {"f": 1}),
    ("InsertField$Value", {"topic_field": "t", "offset_field": "o!"}, {"x": 1}, {"x": 1, "t": "orders", "o": 7}),
    ("InsertField$Value", {"static_field": "s", "static_value": "v"}, {}, {"s": "v"}),
    ("MaskField$Value", {"fields": "x,y"}, {"x": 1, "y": "a", "z": 2}, {"x": 0, "y": "", "z": 2}),
    ("MaskField$Value", {"fields": "y", "replacement": "***"}, {"y": "a"}, {"y": "***"}),
    ("ReplaceField$Value", {"exclude": "x", "renames": "y:z"}, {"x": 1, "y": 2}, {"z": 2}),
    ("ReplaceField$Value", {"whitelist": "x"}, {"x": 1, "y": 2}, {"x": 1}),
    ("TimestampConverter$Value", {"target_type": "string", "format": "yyyy-MM-dd"}, NOON, "2024-06-15"),
    (
        "TimestampConverter$Value",
        {"field": "at", "target_type": "unix", "format": "yyyy-MM-dd HH:mm:ss"},
        {"at": "2024-06-15 12:00:00"},
        {"at": NOON},
    ),
]


@pytest.mark.parametrize(("name", "props", "before", "after"), CASES)
def test_a_value_without_schema(name, props, before, after):
    assert applied(name, record(before), **props).value == after


@pytest.mark.parametrize(("name", "props", "before", "after"), CASES)
def test_the_keys_variant_changes_the_key_alone(name, props, before, after):
    changed = applied(name.replace("$Value", "$Key"), record("v", key=before), **props)
    assert (changed.key, changed.value) == (after, "v")


@pytest.mark.parametrize(
    ("name", "props", "after"),
    [
        ("Cast$Value", {"spec": "x:int64,y:string"}, {"x": 1, "y": "a"}),
        ("ExtractField$Value", {"field": "y"}, "a"),
        ("Flatten$Value", {"delimiter": "_"}, {"x": 1, "y": "a"}),
        ("HeaderFrom$Value", {"fields": "y", "headers": "h", "operation": "move"}, {"x": 1}),
        (
            "InsertField$Value",
            {"timestamp_field": "at"},
            {"x": 1, "y": "a", "at": datetime(2024, 6, 15, 12, tzinfo=UTC)},
        ),
        ("MaskField$Value", {"fields": "x"}, {"x": 0, "y": "a"}),
        ("ReplaceField$Value", {"include": "x", "renames": "x:z"}, {"z": 1}),
        ("SetSchemaMetadata$Value", {"schema_name": "n", "schema_version": "2"}, {"x": 1, "y": "a"}),
    ],
)
def test_a_struct_gets_a_schema_that_it_fits(name, props, after):
    changed = applied(name, record(Struct(POINT, {"x": 1, "y": "a"}), POINT), **props)
    types.validate_value(changed.value_schema, changed.value)
    assert (dict(changed.value) if isinstance(changed.value, Struct) else changed.value) == after


def test_headers_are_taken_from_fields_inserted_and_dropped():
    moved = applied("HeaderFrom$Value", record({"x": 1, "y": 2}), fields="x", headers="h", operation="move")
    assert (moved.value, moved.headers) == ({"y": 2}, (Header("h", None, 1),))
    inserted = applied("InsertHeader", moved, header="i", value_literal="v")
    assert inserted.headers[-1] == Header("i", types.STRING, "v")
    assert applied("DropHeaders", inserted, headers="h, i").headers == ()


def test_value_to_key_and_routers():
    assert applied("ValueToKey", record({"x": 1, "y": 2}), fields="x").key == {"x": 1}
    struct = applied("ValueToKey", record(Struct(POINT, {"x": 1}), POINT), fields="x")
    assert dict(struct.key) == {"x": 1}
    assert applied("TimestampRouter", record(1)).topic == "orders-20240615"
    assert applied("RegexRouter", record(1), regex="(or)(.*)", replacement="$2-$1").topic == "ders-or"
    assert applied("RegexRouter", record(1), regex="or", replacement="x").topic == "orders"
    assert applied("Filter", record(1)) is None


@pytest.mark.parametrize(
    ("name", "props", "held"),
    [
        ("TopicNameMatches", {"pattern": "ord.*"}, True),
        ("TopicNameMatches", {"pattern": "ord"}, False),
        ("RecordIsTombstone", {}, False),
        ("HasHeaderKey", {"name": "h"}, True),
    ],
)
def test_predicates_hold_of_what_they_are_named_after(name, props, held):
    predicate = lookup(name, "predicate")()
    predicate.configure(props)
    assert predicate.test(record(1, headers=(Header("h", None, 1),))) is held


@pytest.mark.parametrize(
    ("name", "props"),
    [
        ("Cast$Value", {"spec": "x:odd"}),
        ("InsertField$Value", {}),
        ("HeaderFrom$Value", {"fields": "a", "headers": "b,c", "operation": "move"}),
        ("HeaderFrom$Value", {"fields": "a", "headers": "b", "operation": "odd"}),
        ("ReplaceField$Value", {"renames": "a"}),
        ("RegexRouter", {"regex": "(", "replacement": ""}),
        ("RegexRouter", {"regex": "a", "replacement": "$1"}),
        ("TimestampConverter$Value", {"target_type": "string"}),
        ("TimestampConverter$Value", {"target_type": "string", "format": "Q"}),
        ("SetSchemaMetadata$Value", {}),
    ],
)
def test_what_is_configured_wrongly_is_refused(name, props):
    with pytest.raises(ConfigError):
        applied(name, record({}), **props)


def test_a_number_that_does_not_fit_is_refused_not_cut():
    with pytest.raises(DataError, match="does not fit"):
        applied("Cast$Value", record({"x": 300}), spec="x:int8")


VALUES = st.none() | st.dictionaries(st.sampled_from(["x", "y", "z"]), st.integers(0, 100), max_size=3)
WHOLE = st.builds(
    SinkRecord,
    st.sampled_from(["a", "orders"]),
    st.integers(0, 9),
    st.integers(0, 99),
    st.none(),
    st.text(max_size=5),
    st.none(),
    VALUES,
    st.integers(0, NOON),
    st.lists(st.builds(Header, st.text(max_size=3), st.none(), st.integers()), max_size=2).map(tuple),
)


@given(WHOLE, st.sampled_from([case for case in CASES if case[0] != "TimestampConverter$Value"]))
def test_a_transform_of_the_value_never_loses_key_headers_or_timestamp(given_record, case):
    name, props, _, _ = case
    try:
        changed = applied(name, given_record, **props)
    except DataError:
        return
    for part in ("topic", "partition", "offset", "key_schema", "key", "timestamp_ms", "headers"):
        assert getattr(changed, part) == getattr(given_record, part)


@pytest.mark.parametrize("pattern", [r"\X", "(?U)a", r"\p{IsOgham}", "(", "a**", "a" * 2000])
def test_what_is_no_pattern_or_has_no_equal_is_refused(pattern):
    with pytest.raises(ConfigError):
        java_regex("regex", pattern)


def test_java_patterns_with_an_equal_are_translated():
    pattern = java_regex("regex", r"(?<first>a+)-\k<first>\.(\d)")
    replace = java_replacement("replacement", r"${first}\$$22", pattern)
    assert replace(pattern.fullmatch("aa-aa.3")) == "aa$32"


@pytest.mark.parametrize("name", ["RegexRouter", "TopicNameMatches"])
def test_a_pattern_that_a_topics_name_would_be_matched_for_years_by_fails_its_record(name):
    plugin = lookup(name, PluginKind.TRANSFORMATION if name == "RegexRouter" else PluginKind.PREDICATE)()
    plugin.configure({"regex": "(a+)+", "replacement": "b", "pattern": "(a+)+"})
    decide = plugin.apply if name == "RegexRouter" else plugin.test
    assert decide(record("v", topic="aaa"))
    with pytest.raises(TooManyWays):
        decide(record("v", topic="a" * 60 + "!"))
