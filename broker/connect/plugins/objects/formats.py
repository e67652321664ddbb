"""The bytes of a file: Parquet with the records' own types, or a JSON value a line."""

from typing import Any

import orjson

from broker.connect.api import DataError, Field, Schema, Struct, Type
from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP
from broker.connect.converters.json_values import JsonValues, schemaless_to_json
from broker.connect.converters.logical import scale_of

EXTENSIONS = {"parquet": ".parquet", "json": ".jsonl"}
#: Digits of a decimal column: what Parquet's readers know.
DECIMAL_PRECISION = 38


def json_lines(schema: Schema | None, values: list[Any]) -> bytes:
    values_of = JsonValues()
    read = [schemaless_to_json(each) if schema is None else values_of.to_json(schema, each) for each in values]
    return b"".join(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in read)


def parquet(schema: Schema | None, values: list[Any]) -> Any:
    """A buffer. A struct has a column for each field; anything else stands in a column `value`, schemaless as JSON."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = _table(schema, values)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"Records that are no Parquet: {error}") from error
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _table(schema: Schema | None, values: list[Any]) -> Any:
    import pyarrow

    if schema is None:
        texts = [orjson.dumps(schemaless_to_json(each)).decode() for each in values]
        return pyarrow.table({"value": pyarrow.array(texts, pyarrow.string())})
    if schema.type is not Type.STRUCT:
        return pyarrow.table({"value": pyarrow.array(list(map(_plain, values)), arrow_type(schema))})
    columns = [
        pyarrow.array(_column(each.schema, _members(each, values)), arrow_type(each.schema)) for each in schema.fields
    ]
    fields = [pyarrow.field(each.name, arrow_type(each.schema)) for each in schema.fields]
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def _members(field: Field, values: list[Any]) -> list[Any]:
    name = field.name
    if field.schema.default is None:
        return [value.values_by_name.get(name) for value in values]
    return [value[name] for value in values]


def _column(schema: Schema, values: list[Any]) -> list[Any]:
    return values if schema.type.is_primitive else list(map(_plain, values))


def _plain(value: Any) -> Any:
    """Structs as dictionaries and maps as pairs, as pyarrow takes them."""
    if isinstance(value, Struct):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, dict):
        return [(_plain(key), _plain(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def arrow_type(schema: Schema) -> Any:
    import pyarrow

    match schema.name:
        case name if name == DECIMAL:
            return pyarrow.decimal128(DECIMAL_PRECISION, scale_of(schema))
        case name if name == DATE:
            return pyarrow.date32()
        case name if name == TIME:
            return pyarrow.time32("ms")
        case name if name == TIMESTAMP:
            return pyarrow.timestamp("ms", tz="UTC")
    if schema.type is Type.ARRAY and schema.value_schema:
        return pyarrow.list_(arrow_type(schema.value_schema))
    if schema.type is Type.MAP and schema.key_schema and schema.value_schema:
        return pyarrow.map_(arrow_type(schema.key_schema), arrow_type(schema.value_schema))
    if schema.type is Type.STRUCT:
        return pyarrow.struct([pyarrow.field(each.name, arrow_type(each.schema)) for each in schema.fields])
    named = {Type.FLOAT32: "float32", Type.FLOAT64: "float64", Type.BOOLEAN: "bool_", Type.BYTES: "binary"}
    return getattr(pyarrow, named.get(schema.type, schema.type.value))()
