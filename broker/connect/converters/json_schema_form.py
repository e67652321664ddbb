"""A schema as the `schema` member of JsonConverter's envelope, and back."""

from collections.abc import Callable
from typing import Any

from broker.connect.api import DataError, Field, Schema, Type

#: JsonConverter's own words; the others are Connect's.
_WORDS = {Type.FLOAT32: "float", Type.FLOAT64: "double"}
_TYPES = {_WORDS.get(type_, type_.value): type_ for type_ in Type}
#: Schemas within schemas: what nobody means, and Python's stack holds.
DEPTH_MAX = 100

ValueToJson = Callable[[Schema, Any], Any]
JsonToValue = Callable[[Schema, Any], Any]


def schema_to_json(schema: Schema, to_json: ValueToJson) -> dict[str, Any]:
    """Return the schema as JSON; `to_json` writes default values."""
    document: dict[str, Any] = {"type": _WORDS.get(schema.type, schema.type.value)}
    if schema.type is Type.ARRAY and schema.value_schema:
        document["items"] = schema_to_json(schema.value_schema, to_json)
    elif schema.type is Type.MAP and schema.key_schema and schema.value_schema:
        document["keys"] = schema_to_json(schema.key_schema, to_json)
        document["values"] = schema_to_json(schema.value_schema, to_json)
    elif schema.type is Type.STRUCT:
        document["fields"] = [{**schema_to_json(field.schema, to_json), "field": field.name} for field in schema.fields]
    document["optional"] = schema.optional
    for key in ("name", "version", "doc"):
        if getattr(schema, key) is not None:
            document[key] = getattr(schema, key)
    if schema.parameters:
        document["parameters"] = dict(schema.parameters)
    if schema.default is not None:
        document["default"] = to_json(schema, schema.default)
    return document


def schema_from_json(document: Any, to_value: JsonToValue, depth: int = 0) -> Schema:
    """Raises DataError saying which member is wrong."""
    if depth > DEPTH_MAX:
        raise DataError(f"A schema of more than {DEPTH_MAX} levels")
    if not isinstance(document, dict):
        raise DataError(f"A schema must be a JSON object, not {type(document).__name__}")
    word = document.get("type")
    kind = _TYPES.get(word) if isinstance(word, str) else None
    if kind is None:
        raise DataError(f"Unknown schema type: {document.get('type')}")

    def inner(member: str) -> Schema:
        if member not in document:
            raise DataError(f"A schema of type {kind} must have {member}")
        return schema_from_json(document[member], to_value, depth + 1)

    made = Schema(
        kind,
        _member(document, "optional", bool, False),
        _member(document, "name", str),
        _member(document, "version", int),
        _member(document, "doc", str),
        _parameters(document),
        None,
        _fields(document, to_value, depth) if kind is Type.STRUCT else (),
        inner("keys") if kind is Type.MAP else None,
        inner("items") if kind is Type.ARRAY else inner("values") if kind is Type.MAP else None,
    )
    if document.get("default") is None:
        return made
    default = to_value(made, document["default"])
    return Schema(**{**made.__dict__, "default": default})


def _member(document: dict[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = document.get(name, default)
    if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        raise DataError(f"Invalid schema: {name} must be of type {kind.__name__}")
    return default if value is None else value


def _parameters(document: dict[str, Any]) -> dict[str, str]:
    parameters: dict[str, str] = _member(document, "parameters", dict, {})
    if not all(isinstance(parameter, str) for parameter in parameters.values()):
        raise DataError("Schema parameters must have string values.")
    return parameters


def _fields(document: dict[str, Any], to_value: JsonToValue, depth: int) -> tuple[Field, ...]:
    fields = document.get("fields")
    if not isinstance(fields, list):
        raise DataError('Struct schema\'s "fields" argument is not an array.')
    made = []
    for field in fields:
        name = field.get("field") if isinstance(field, dict) else None
        if not isinstance(name, str):
            raise DataError('Struct schema\'s field name not specified properly: "field" must be a string')
        made.append(Field(name, schema_from_json(field, to_value, depth + 1)))
    if len({item.name for item in made}) < len(made):
        raise DataError("A struct has two fields of one name")
    return tuple(made)
