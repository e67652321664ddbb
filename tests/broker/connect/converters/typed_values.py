"""Schemas of Connect of any type, each with a strategy of its values."""

from datetime import UTC
from decimal import Decimal

from hypothesis import strategies as st

from broker.connect.api import Field, Schema, Struct, Type
from broker.connect.api import schema as types


def integers(bits):
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


#: Texts without lone surrogates, which no encoding has.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

PRIMITIVES = {
    Type.INT8: integers(8),
    Type.INT16: integers(16),
    Type.INT32: integers(32),
    Type.INT64: integers(64),
    Type.FLOAT32: st.floats(allow_nan=False, width=32),
    Type.FLOAT64: st.floats(allow_nan=False),
    Type.BOOLEAN: st.booleans(),
    Type.STRING: TEXTS,
    Type.BYTES: st.binary(max_size=20),
}


@st.composite
def leaves(draw, optional=None):
    is_optional = draw(st.booleans()) if optional is None else optional
    kind = draw(st.sampled_from([*PRIMITIVES, "decimal", "date", "time", "timestamp"]))
    if kind == "decimal":
        scale = draw(st.integers(0, 6))
        values = st.integers(-(10**20), 10**20).map(lambda item: Decimal(item).scaleb(-scale))
        return types.decimal_schema(scale, is_optional), values
    if kind == "date":
        return types.date_schema(is_optional), st.dates()
    if kind == "time":
        return types.time_schema(is_optional), st.times().map(lambda item: item.replace(microsecond=0, fold=0))
    if kind == "timestamp":
        values = st.datetimes().map(lambda item: item.replace(microsecond=1000, fold=0, tzinfo=UTC))
        return types.timestamp_schema(is_optional), values
    return Schema(kind, is_optional), PRIMITIVES[kind]


@st.composite
def typed(draw, depth=2, names=TEXTS, struct_name="a.Struct", fields_min=0):
    """A schema of any type, and a strategy of its values. `names` of fields, of which a struct has `fields_min`."""
    shape = draw(st.sampled_from(["leaf", "array", "map", "struct"])) if depth else "leaf"
    within = {"depth": depth - 1, "names": names, "struct_name": struct_name, "fields_min": fields_min}
    if shape == "leaf":
        schema, values = draw(leaves())
    elif shape == "array":
        inner, values = draw(typed(**within))
        schema, values = Schema(Type.ARRAY, draw(st.booleans()), value_schema=inner), st.lists(values, max_size=3)
    elif shape == "map":
        keys, key_values = draw(leaves(optional=False))
        inner, values = draw(typed(**within))
        schema = Schema(Type.MAP, draw(st.booleans()), key_schema=keys, value_schema=inner)
        values = st.dictionaries(key_values, values, max_size=3)
    else:
        parts = {
            name: draw(typed(**within)) for name in draw(st.lists(names, unique=True, min_size=fields_min, max_size=3))
        }
        fields = tuple(Field(name, inner) for name, (inner, _) in parts.items())
        schema = Schema(Type.STRUCT, draw(st.booleans()), name=struct_name, version=3, doc="of a test", fields=fields)
        values = st.fixed_dictionaries({name: item for name, (_, item) in parts.items()}).map(
            lambda item, schema=schema: Struct(schema, item)
        )
    return schema, (st.none() | values if schema.optional else values)
