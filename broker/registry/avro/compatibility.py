"""Whether a reader's schema reads what a writer's wrote, by Avro's rules of resolution; what is in the way has the
names of its SchemaCompatibility.
"""

from broker.registry.avro.model import NO_DEFAULT, Field, Type

_PROMOTIONS = {
    ("int", "long"), ("int", "float"), ("int", "double"),
    ("long", "float"), ("long", "double"), ("float", "double"),
    ("string", "bytes"), ("bytes", "string"),
}  # fmt: skip


def incompatibilities(reader: Type, writer: Type) -> list[str]:
    """Empty if every datum of the writer can be read; else a sentence for each thing in the way."""
    return _Comparison().of(reader, writer, "/")


class _Comparison:
    """A pair of types that contains itself is compared once; while it is, it counts as compatible."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], list[str]] = {}

    def of(self, reader: Type, writer: Type, at: str) -> list[str]:
        pair = (id(reader), id(writer))
        if pair not in self._known:
            self._known[pair] = []
            self._known[pair] = self._compare(reader, writer, at)
        return self._known[pair]

    def _compare(self, reader: Type, writer: Type, at: str) -> list[str]:
        if writer.kind == "union":
            return self._of_written_union(reader, writer, at)
        if reader.kind == "union":
            return self._of_read_union(reader, writer, at)
        if _kind(reader) != _kind(writer):
            if (writer.kind, reader.kind) in _PROMOTIONS:
                return []
            return [
                _told(
                    "TYPE_MISMATCH",
                    at,
                    f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}",
                )
            ]
        match _kind(reader):
            case "array":
                return self.of(reader.inner[0], writer.inner[0], f"{at.rstrip('/')}/items")
            case "map":
                return self.of(reader.inner[0], writer.inner[0], f"{at.rstrip('/')}/values")
            case "fixed":
                return _names(reader, writer, at) + _sizes(reader, writer, at)
            case "enum":
                return _names(reader, writer, at) + _symbols(reader, writer, at)
            case "record":
                return _names(reader, writer, at) + self._fields(reader, writer, at)
        return []

    def _of_written_union(self, reader: Type, writer: Type, at: str) -> list[str]:
        """Each branch may have been written."""
        found = []
        for index, branch in enumerate(writer.inner):
            if reader.kind != "union":
                found += self.of(reader, branch, at)
            elif self.of(reader, branch, at):
                found.append(
                    _told(
                        "MISSING_UNION_BRANCH",
                        f"{at.rstrip('/')}/{index}",
                        f"reader union lacking writer type: {branch.kind.upper()}",
                    )
                )
        return found

    def _of_read_union(self, reader: Type, writer: Type, at: str) -> list[str]:
        if any(not self.of(branch, writer, at) for branch in reader.inner):
            return []
        return [_told("MISSING_UNION_BRANCH", at, f"reader union lacking writer type: {writer.kind.upper()}")]

    def _fields(self, reader: Type, writer: Type, at: str) -> list[str]:
        found = []
        for index, field in enumerate(reader.fields):
            place = f"{at.rstrip('/')}/fields/{index}"
            written = _written_as(field, writer)
            if len(written) > 1:
                names = ", ".join(each.name for each in written)
                found.append(_told("NAME_MISMATCH", place, f"field {field.name} is several of the writer: {names}"))
            elif written:
                found += self.of(field.type, written[0].type, f"{place}/type")
            elif field.default is NO_DEFAULT and not _has_enum_default(field.type):
                found.append(_told("READER_FIELD_MISSING_DEFAULT_VALUE", place, field.name))
        return found


def _has_enum_default(type_: Type) -> bool:
    return type_.kind == "enum" and type_.enum_default is not None


def _kind(type_: Type) -> str:
    return "record" if type_.kind == "error" else type_.kind


def _written_as(field: Field, writer: Type) -> list[Field]:
    """The field of the writer that this one reads: that of its name, or that of an alias."""
    by_name = [each for each in writer.fields if each.name == field.name]
    by_alias = [each for each in writer.fields if each.name in field.aliases and each.name != field.name]
    return by_name + by_alias


def _names(reader: Type, writer: Type, at: str) -> list[str]:
    assert reader.name is not None
    assert writer.name is not None
    if reader.name.local == writer.name.local or writer.name.full in {each.full for each in reader.aliases}:
        return []
    return [_told("NAME_MISMATCH", f"{at.rstrip('/')}/name", f"expected: {writer.name.full}")]


def _sizes(reader: Type, writer: Type, at: str) -> list[str]:
    if reader.size == writer.size:
        return []
    return [_told("FIXED_SIZE_MISMATCH", f"{at.rstrip('/')}/size", f"expected: {writer.size}, found: {reader.size}")]


def _symbols(reader: Type, writer: Type, at: str) -> list[str]:
    missing = [each for each in writer.symbols if each not in reader.symbols]
    if not missing or reader.enum_default is not None:
        return []
    return [_told("MISSING_ENUM_SYMBOLS", f"{at.rstrip('/')}/symbols", f"[{', '.join(missing)}]")]


_SENTENCES = {
    "TYPE_MISMATCH": "The type (path '{at}') of a field in the new schema does not match with the old schema",
    "NAME_MISMATCH": "The name of the schema has changed (path '{at}')",
    "FIXED_SIZE_MISMATCH": "The size of the fixed type has changed (path '{at}')",
    "MISSING_ENUM_SYMBOLS": "The reader's schema is missing enum symbols at path '{at}' of the writer's schema",
    "MISSING_UNION_BRANCH": "The reader's schema is missing a type inside a union field at path '{at}'",
    "READER_FIELD_MISSING_DEFAULT_VALUE": "The field '{what}' at path '{at}' of the reader's schema has no default "
    "value and is missing in the writer's schema",
}


def _told(kind: str, at: str, what: str) -> str:
    sentence = _SENTENCES[kind].format(at=at, what=what)
    return f"{{errorType:'{kind}', description:'{sentence}', additionalInfo:'{what}'}}"
