from datetime import UTC, date, datetime

import pytest

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types

POINT = Schema(Type.STRUCT, fields=(Field("x", types.INT8), Field("label", Schema(Type.STRING, default="none"))))


def test_a_struct_reads_by_name_with_defaults():
    point = Struct(POINT, {"x": 1})
    assert dict(point) == {"x": 1, "label": "none"}
    assert point.without_default("label") is None
    point.validate()


@pytest.mark.parametrize("values", [{}, {"x": 128}, {"x": True}, {"x": "1"}, {"x": 1, "label": 2}])
def test_a_struct_that_does_not_fit_is_refused(values):
    with pytest.raises(DataError):
        Struct(POINT, values).validate()


def test_a_name_that_is_no_field_is_refused():
    with pytest.raises(DataError, match="y is not a valid field name"):
        Struct(POINT, {"y": 1})


def test_arrays_and_maps_are_looked_at_to_the_last_element():
    matrix = Schema(Type.ARRAY, value_schema=Schema(Type.MAP, key_schema=types.STRING, value_schema=types.INT16))
    types.validate_value(matrix, [{"a": 1}])
    with pytest.raises(DataError):
        types.validate_value(matrix, [{"a": 1}, {"b": 1 << 15}])


def test_a_logical_type_has_its_own_python_value():
    types.validate_value(types.date_schema(), date(2024, 1, 1))
    types.validate_value(types.timestamp_schema(), datetime(2024, 1, 1, tzinfo=UTC))
    for schema, value in ((types.date_schema(), datetime(2024, 1, 1, tzinfo=UTC)), (types.decimal_schema(2), 1.5)):
        with pytest.raises(DataError):
            types.validate_value(schema, value)


def test_schemas_with_parameters_and_defaults_can_be_keys_of_a_dictionary():
    assert len({types.decimal_schema(2), types.decimal_schema(2), Schema(Type.STRING, default="a")}) == 2
