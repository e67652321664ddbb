"""The bytes of a file: Parquet or Avro with the records' own types, or a JSON value a line."""

import hashlib
from collections.abc import Callable
from typing import Any

import orjson

from broker.connect.api import DataError, Schema, Struct, Type
from broker.connect.api.schema import DATE, DECIMAL, TIME, TIMESTAMP
from broker.connect.converters.json_values import JsonValues, schemaless_to_json
from broker.connect.converters.logical import scale_of
from broker.connect.converters.registry.avro.converter import AvroCodec
from broker.connect.converters.registry.avro.decoder import read_schema
from broker.connect.converters.registry.avro.encoder import avro_of
from broker.connect.plugins.objects.open_file import ColumnRows, ObjectFile

EXTENSIONS = {"parquet": ".parquet", "json": ".jsonl", "avro": ".avro"}
#: Digits of a decimal column: what Parquet's readers know.
DECIMAL_PRECISION = 38


def json_lines(file: ObjectFile) -> bytes:
    """Raises DataError."""
    values_of, schema = JsonValues(), file.schema
    values = _values(file)
    try:
        read = [schemaless_to_json(value) if schema is None else values_of.to_json(schema, value) for value in values]
        return b"".join(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE) for value in read)
    except (TypeError, ValueError) as error:
        raise DataError(f"Records that are no JSON: {error}") from error


def parquet(file: ObjectFile) -> Any:
    """Encode as Parquet. A struct has a column for each field; anything else goes into a column `value`, as JSON if
    schemaless.

    Raises DataError.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        table = _table(file)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise DataError(f"Records that are no Parquet: {error}") from error
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def avro(file: ObjectFile) -> bytes:
    """Return an object container file of one block, without compression. Raises DataError."""
    if file.schema is None:
        raise DataError("A value without a schema cannot be Avro")
    text = avro_of(file.schema)
    node, _ = read_schema(text, ())
    codec = AvroCodec(node, is_raw=False)
    block = b"".join(codec.encode(value) for value in _values(file))
    # The same records make the same file: a marker by chance would not.
    marker = hashlib.sha256(file.name.encode()).digest()[:16]
    header = b"Obj\x01" + _count(2) + _framed(b"avro.schema") + _framed(text.encode())
    header += _framed(b"avro.codec") + _framed(b"null") + _count(0) + marker
    return header + _count(file.count) + _framed(block) + marker


def _framed(data: bytes) -> bytes:
    return _count(len(data)) + data


def _count(number: int) -> bytes:
    """Return a count as Avro's long: zigzag, seven bits a byte, the lowest first."""
    rest, out = number << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes((*out, rest))


#: What makes the bytes of a file. Raises DataError.
ENCODERS: dict[str, Callable[[ObjectFile], Any]] = {"parquet": parquet, "json": json_lines, "avro": avro}


def fault_in(file: ObjectFile, encode: Callable[[ObjectFile], Any]) -> int:
    """Return the offset of the first record with which it cannot be encoded, of a file that cannot."""
    start, end = 0, file.count
    while end - start > 1:
        middle = (start + end) // 2
        try:
            encode(file.only(start, middle))
            start = middle
        except DataError:
            end = middle
    return file.offsets[start]


def _table(file: ObjectFile) -> Any:
    import pyarrow

    schema = file.schema
    if schema is None:
        texts = [orjson.dumps(schemaless_to_json(value)).decode() for value in _values(file)]
        return pyarrow.table({"value": pyarrow.array(texts, pyarrow.string())})
    if schema.type is not Type.STRUCT:
        return pyarrow.table({"value": pyarrow.array(list(map(_plain, _values(file))), arrow_type(schema))})
    columns = [
        pyarrow.array(_column(field.schema, _members(file, at)), arrow_type(field.schema))
        for at, field in enumerate(schema.fields)
    ]
    fields = [pyarrow.field(field.name, arrow_type(field.schema)) for field in schema.fields]
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def _values(file: ObjectFile) -> list[Any]:
    """Return values one by one, for records without a struct schema."""
    return [item for part in file.parts for item in part]


def _members(file: ObjectFile, at: int) -> list[Any]:
    """Return a field's values, from the file's first record to the last."""
    field = file.schema.fields[at]  # type: ignore[union-attr]  # columns are made only of a file with a schema
    name, default = field.name, field.schema.default
    members: list[Any] = []
    for part in file.parts:
        members += part[at] if isinstance(part, ColumnRows) else [value.values_by_name.get(name) for value in part]
    return members if default is None else [default if value is None else value for value in members]


def _column(schema: Schema, values: list[Any]) -> list[Any]:
    return values if schema.type.is_primitive else list(map(_plain, values))


def _plain(value: Any) -> Any:
    """Return structs as dictionaries and maps as pairs, as pyarrow takes them."""
    if isinstance(value, Struct):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, dict):
        return [(_plain(key), _plain(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
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
        return pyarrow.struct([pyarrow.field(field.name, arrow_type(field.schema)) for field in schema.fields])
    named = {Type.FLOAT32: "float32", Type.FLOAT64: "float64", Type.BOOLEAN: "bool_", Type.BYTES: "binary"}
    return getattr(pyarrow, named.get(schema.type, schema.type.value))()
