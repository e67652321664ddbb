"""A JSON Schema as a schema of Connect. Pure.

Types are understood; what only forbids values (patterns, ranges) has no place in Connect.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import orjson

from broker.connect.api import DataError, Field, Schema, Type
from broker.connect.converters.json_schema_form import DEPTH_MAX
from broker.connect.converters.registry.json_schema import connect_names
from broker.connect.converters.registry.json_schema.values import SchemaValues
from broker.registry.schema import NamedSchema

_SIMPLE = {"boolean": Type.BOOLEAN, "string": Type.STRING}


def read_schema(text: str, referred: Sequence[NamedSchema], values: SchemaValues, missing_is_null: bool) -> Schema:
    """Parse a schema. `missing_is_null`: a property that is not required is optional. Raises DataError."""
    documents = {named.name: _document(named.content.text) for named in referred}
    reader = _JsonSchemaReader(documents, values, missing_is_null)
    return reader.read(_document(text), _document(text), 0)


def _document(text: str) -> Any:
    try:
        return orjson.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"Invalid JSON Schema: {error}") from None


class _JsonSchemaReader:
    def __init__(self, documents: dict[str, Any], values: SchemaValues, missing_is_null: bool):
        self._documents, self._values, self._missing_is_null = documents, values, missing_is_null
        self._open: list[str] = []
        self._schemas_read = 0

    def read(self, document: Any, root: Any, depth: int) -> Schema:
        """Read a document of the document `root`."""
        self._schemas_read += 1
        if depth > DEPTH_MAX or self._schemas_read > _SCHEMAS_MAX:
            raise DataError(f"A schema of more than {DEPTH_MAX} levels, or of more than {_SCHEMAS_MAX} parts")
        if not isinstance(document, dict):
            raise DataError("A JSON Schema that takes any value, which Connect has no schema for")
        if "$ref" in document:
            return self._referred(str(document["$ref"]), document, root, depth)
        for word in ("oneOf", "anyOf"):
            if word in document:
                return self._choice(document, _list(document[word]), root, depth)
        if isinstance(document.get("type"), list):
            return self._choice(document, [{**document, "type": item} for item in document["type"]], root, depth)
        if "allOf" in document:
            document, root = self._merged(document, root)
        return self._about(document, self._plain(document, root, depth))

    def _plain(self, document: dict[str, Any], root: Any, depth: int) -> Schema:
        kind, hint = document.get("type"), str(document.get(connect_names.TYPE))
        if kind is None:
            kind = "object" if "properties" in document else _kind_of_enum(document)
        if kind == "integer":
            return Schema(connect_names.INTEGERS.get(hint, Type.INT64))
        if kind == "number":
            return Schema(connect_names.NUMBERS.get(hint, Type.FLOAT64))
        if kind == "string" and hint == "bytes":
            return Schema(Type.BYTES)
        if kind in _SIMPLE:
            return Schema(_SIMPLE[kind])
        if kind == "array":
            return self._array(document, hint, root, depth)
        if kind == "object":
            return self._object(document, hint, root, depth)
        raise DataError(f"A JSON Schema of type {kind}, which Connect has no schema for")

    def _array(self, document: dict[str, Any], hint: str, root: Any, depth: int) -> Schema:
        items = document.get("items")
        if hint == "map" and isinstance(items, dict):
            entry = _dict(items.get("properties"))
            keys, values = (self.read(entry.get(name), root, depth + 1) for name in ("key", "value"))
            return Schema(Type.MAP, key_schema=keys, value_schema=values)
        return Schema(Type.ARRAY, value_schema=self.read(items, root, depth + 1))

    def _object(self, document: dict[str, Any], hint: str, root: Any, depth: int) -> Schema:
        more, properties = document.get("additionalProperties"), _dict(document.get("properties"))
        if hint == "map" or (isinstance(more, dict) and not properties):
            return Schema(Type.MAP, key_schema=Schema(Type.STRING), value_schema=self.read(more, root, depth + 1))
        required = _list(document.get("required"))
        fields = []
        for name, item in sorted(properties.items(), key=_index):
            schema = self.read(item, root, depth + 1)
            if self._missing_is_null and name not in required and schema.default is None:
                schema = replace(schema, optional=True)
            fields.append(Field(name, schema))
        return Schema(Type.STRUCT, fields=tuple(fields))

    def _choice(self, document: dict[str, Any], branches: list[Any], root: Any, depth: int) -> Schema:
        """Read a oneOf: null and one other type make that optional; more types make a struct of which one field has a
        value.
        """
        others = [branch for branch in branches if not (isinstance(branch, dict) and branch.get("type") == "null")]
        is_optional = len(others) < len(branches)
        if not others:
            raise DataError("A JSON Schema of null alone, which Connect has no schema for")
        schemas = [self.read(other, root, depth + 1) for other in others]
        if len(schemas) == 1:
            known = replace(schemas[0], optional=is_optional or schemas[0].optional)
            return self._about({key: document[key] for key in ("default",) if key in document}, known)
        fields = tuple(
            Field(f"{connect_names.UNION_FIELD}{at}", replace(schema, optional=True))
            for at, schema in enumerate(schemas)
        )
        return Schema(Type.STRUCT, is_optional, connect_names.UNION, fields=fields)

    def _referred(self, reference: str, node: dict[str, Any], root: Any, depth: int) -> Schema:
        document, _, path = reference.partition("#")
        target = self._documents.get(document) if document else root
        key = f"{id(target)}#{path}"
        if target is None:
            raise DataError(f"A JSON Schema that refers to {document[:200]}, which the registry did not return")
        if key in self._open:
            raise DataError("A schema that contains itself, which Connect has no schema for")
        self._open.append(key)
        try:
            return self._about({k: v for k, v in node.items() if k != "title"}, self.read(
                _pointed(target, path), target, depth + 1
            ))  # fmt: skip
        finally:
            self._open.pop()

    def _merged(self, document: dict[str, Any], root: Any) -> tuple[dict[str, Any], Any]:
        """Merge several objects (allOf) into one with the properties of each. Raises DataError for other types."""
        parts = [{key: value for key, value in document.items() if key != "allOf"}]
        for entry in _list(document["allOf"]):
            while isinstance(entry, dict) and str(entry.get("$ref", "")).startswith("#") and len(entry) == 1:
                entry = _pointed(root, str(entry["$ref"]).partition("#")[2])
                if len(parts) > DEPTH_MAX or entry in parts:
                    raise DataError("A schema that contains itself, which Connect has no schema for")
            if not isinstance(entry, dict) or {"$ref", "oneOf", "anyOf", "allOf"} & entry.keys():
                raise DataError("A JSON Schema with allOf of other than objects, which Connect has no schema for")
            parts.append(entry)
        merged: dict[str, Any] = {}
        for part in parts:
            merged |= part | {
                "properties": _dict(merged.get("properties")) | _dict(part.get("properties")),
                "required": [*_list(merged.get("required")), *_list(part.get("required"))],
            }
        return merged, root

    def _about(self, document: dict[str, Any], schema: Schema) -> Schema:
        version, doc, name = document.get(connect_names.VERSION), document.get("description"), document.get("title")
        parameters = {str(key): str(value) for key, value in _dict(document.get(connect_names.PARAMETERS)).items()}
        made = replace(
            schema,
            name=name if isinstance(name, str) else schema.name,
            version=version if isinstance(version, int) else schema.version,
            doc=doc if isinstance(doc, str) else schema.doc,
            parameters={**schema.parameters, **parameters},
        )
        return (
            made
            if document.get("default") is None
            else replace(made, default=self._values.from_json(made, document["default"]))
        )


#: With what is referred to, each time it is: a few lines of text can say a million.
_SCHEMAS_MAX = 20_000


def _kind_of_enum(document: dict[str, Any]) -> str | None:
    """Return the type of an enum without a type, by its values."""
    values = _list(document.get("enum")) or [document[key] for key in ("const",) if key in document]
    if values and all(isinstance(value, str) for value in values):
        return "string"
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return "integer"
    return None


def _index(member: tuple[str, Any]) -> int:
    at = member[1].get(connect_names.INDEX) if isinstance(member[1], dict) else None
    return at if isinstance(at, int) else 1 << 31


def _pointed(document: Any, path: str) -> Any:
    """Return what a JSON pointer refers to. Raises DataError."""
    node = document
    for part in path.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or name not in node:
            raise DataError(f"A JSON Schema that refers to #{path[:200]}, which is not there")
        node = node[name]
    return node


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
