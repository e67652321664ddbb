"""Avro's rules of resolution as its specification says them, without a thought for what they cost.

Every pair of types is looked at, a union's branches one by one; `reads` names the places in the way, or none. It knows
schemas as JSON, and shares nothing with the product.
"""

from typing import Any

WIDER = {
    "int": {"long", "float", "double"},
    "long": {"float", "double"},
    "float": {"double"},
    "string": {"bytes"},
    "bytes": {"string"},
}


def named_types(schema: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    if isinstance(schema, list):
        for branch in schema:
            named_types(branch, schemas)
    elif isinstance(schema, dict):
        if "name" in schema:
            schemas[full_name(schema)] = schema
        for inner in (
            schema.get("items"),
            schema.get("values"),
            *(field["type"] for field in schema.get("fields", ())),
        ):
            named_types(inner, schemas)
    return schemas


def full_name(schema: dict[str, Any]) -> str:
    return f"{schema['namespace']}.{schema['name']}" if schema.get("namespace") else schema["name"]


class Reference:
    """Schemas in which a known type is spoken of by its full name, and a namespace stands at each type that has one."""

    def __init__(self, reader: Any, writer: Any):
        self.readers, self.writers = named_types(reader, {}), named_types(writer, {})
        self.known: dict[str, set[tuple[str, str]]] = {}

    def reads(self, reader: Any, writer: Any, at: str) -> set[tuple[str, str]]:
        """(errorType, path) of whatever is in the way; a pair within itself is taken for well while it is looked at."""
        reader = self.readers.get(reader, reader) if isinstance(reader, str) else reader
        writer = self.writers.get(writer, writer) if isinstance(writer, str) else writer
        pair = f"{id(reader) if is_named(reader) else reader} {id(writer) if is_named(writer) else writer} {at}"
        if is_named(reader) and is_named(writer):
            pair = f"{full_name(reader)} {full_name(writer)}"
        if pair not in self.known:
            self.known[pair] = set()
            self.known[pair] = self.in_the_way(reader, writer, at)
        return self.known[pair]

    def in_the_way(self, reader: Any, writer: Any, at: str) -> set[tuple[str, str]]:
        if isinstance(writer, list):
            collected = set()
            for index, branch in enumerate(writer):
                way = self.reads(reader, branch, below(at, str(index)) if not isinstance(reader, list) else at)
                if isinstance(reader, list):
                    way = {("MISSING_UNION_BRANCH", below(at, str(index)))} if way else set()
                collected |= way
            return collected
        if isinstance(reader, list):
            if any(not self.reads(branch, writer, at) for branch in reader):
                return set()
            return {("MISSING_UNION_BRANCH", at)}
        mine, its = kind(reader), kind(writer)
        if mine != its:
            return set() if mine in WIDER.get(its, ()) else {("TYPE_MISMATCH", at)}
        if mine == "array":
            return self.reads(reader["items"], writer["items"], below(at, "items"))
        if mine == "map":
            return self.reads(reader["values"], writer["values"], below(at, "values"))
        collected = set()
        if is_named(reader):
            is_called = reader["name"] == writer["name"] or full_name(writer) in reader.get("aliases", ())
            collected |= set() if is_called else {("NAME_MISMATCH", below(at, "name"))}
        if mine == "fixed" and reader["size"] != writer["size"]:
            collected.add(("FIXED_SIZE_MISMATCH", below(at, "size")))
        if mine == "enum" and "default" not in reader and set(writer["symbols"]) - set(reader["symbols"]):
            collected.add(("MISSING_ENUM_SYMBOLS", below(at, "symbols")))
        if mine == "record":
            for index, field in enumerate(reader["fields"]):
                collected |= self.field(field, writer, below(at, f"fields/{index}"))
        return collected

    def field(self, field: dict[str, Any], writer: dict[str, Any], at: str) -> set[tuple[str, str]]:
        written = [item for item in writer["fields"] if item["name"] in {field["name"], *field.get("aliases", ())}]
        if len(written) > 1:
            return {("NAME_MISMATCH", at)}
        if written:
            return self.reads(field["type"], written[0]["type"], below(at, "type"))
        type_ = self.readers.get(field["type"], field["type"]) if isinstance(field["type"], str) else field["type"]
        if "default" not in field and isinstance(type_, dict) and "symbols" in type_ and "default" in type_:
            return self.reads(field["type"], writer, below(at, "type"))
        return set() if "default" in field else {("READER_FIELD_MISSING_DEFAULT_VALUE", at)}


def is_named(schema: Any) -> bool:
    return isinstance(schema, dict) and "name" in schema


def kind(schema: Any) -> str:
    return schema["type"] if isinstance(schema, dict) else schema


def below(at: str, name: str) -> str:
    return f"{at.rstrip('/')}/{name}"
