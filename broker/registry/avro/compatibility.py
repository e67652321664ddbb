"""Whether a reader's schema reads what a writer's wrote, by Avro's rules of resolution; what is in the way has the
names of its SchemaCompatibility.

Both schemas are a client's, so the work has a budget: names are looked up, a branch of a union is compared with those
it can match, and what takes more steps or messages than the limits is refused.
"""

from collections.abc import Iterable, Iterator

from broker.common.limits import REGISTRY_MESSAGES_BYTES_MAX
from broker.registry.avro.model import NO_DEFAULT, AvroType
from broker.registry.avro.names import SchemaNames
from broker.registry.comparison_budget import ComparisonBudget
from broker.registry.errors import InvalidSchema

_PROMOTIONS = {
    ("int", "long"), ("int", "float"), ("int", "double"),
    ("long", "float"), ("long", "double"), ("float", "double"),
    ("string", "bytes"), ("bytes", "string"),
}  # fmt: skip

_SENTENCES = {
    "TYPE_MISMATCH": "The type (path '{at}') of a field in the new schema does not match with the old schema",
    "NAME_MISMATCH": "The name of the schema has changed (path '{at}')",
    "FIXED_SIZE_MISMATCH": "The size of the fixed type has changed (path '{at}')",
    "MISSING_ENUM_SYMBOLS": "The reader's schema is missing enum symbols at path '{at}' of the writer's schema",
    "MISSING_UNION_BRANCH": "The reader's schema is missing a type inside a union field at path '{at}'",
    "READER_FIELD_MISSING_DEFAULT_VALUE": "The field '{what}' at path '{at}' of the reader's schema has no default "
    "value and is missing in the writer's schema",
}

#: What is in the way of one pair: sentences, and what is in the way of pairs within it, which others may have, too.
_Messages = list["str | _Messages"]


def incompatibilities(reader: AvroType, writer: AvroType) -> list[str]:
    """Return a sentence for each thing in the way, none if every datum of the writer can be read.

    Raises InvalidSchema where comparing takes too long.
    """
    comparison = _Comparison()
    return list(_flattened(comparison.of(reader, writer, "/")))


def _flattened(messages: _Messages) -> Iterator[str]:
    """Yield the sentences in order. Raises InvalidSchema: pairs within pairs multiply them."""
    waiting, byte_count = [iter(messages)], 0
    while waiting:
        for message in waiting[-1]:
            if isinstance(message, list):
                waiting.append(iter(message))
                break
            byte_count += len(message)
            if byte_count > REGISTRY_MESSAGES_BYTES_MAX:
                raise InvalidSchema("comparing it takes too long: too many differences")
            yield message
        else:
            waiting.pop()


class _Comparison:
    """A pair of types that contains itself is compared once; while it is, it counts as compatible."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Messages] = {}
        self._under_way: dict[int, set[int]] = {}  #: by the writer's type, the reader's types it is compared with
        self._names = SchemaNames()
        self._budget = ComparisonBudget()

    def of(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        pair = (id(reader), id(writer))
        if pair not in self._known:
            self._budget.spend_steps(1)
            self._known[pair] = []
            under_way = self._under_way.setdefault(id(writer), set())
            under_way.add(id(reader))
            self._known[pair] = self._compare(reader, writer, at)
            under_way.remove(id(reader))
        return self._known[pair]

    def _compare(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        if writer.kind == "union":
            return self._of_written_union(reader, writer, at)
        if reader.kind == "union":
            return self._of_read_union(reader, writer, at)
        if _kind(reader) != _kind(writer):
            if (writer.kind, reader.kind) in _PROMOTIONS:
                return []
            return [
                self._message(
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
                return [*self._named(reader, writer, at), *self._sizes(reader, writer, at)]
            case "enum":
                return [*self._named(reader, writer, at), *self._symbols(reader, writer, at)]
            case "record":
                return [*self._named(reader, writer, at), *self._fields(reader, writer, at)]
        return []

    def _of_written_union(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        """Return messages of a written union: each of its branches may occur."""
        messages: _Messages = []
        for index, branch in enumerate(writer.inner):
            self._budget.spend_steps(1)
            if reader.kind != "union":
                _take(messages, self.of(reader, branch, f"{at.rstrip('/')}/{index}"))
            elif self.of(reader, branch, at):
                messages.append(
                    self._message(
                        "MISSING_UNION_BRANCH",
                        f"{at.rstrip('/')}/{index}",
                        f"reader union lacking writer type: {branch.kind.upper()}",
                    )
                )
        return messages

    def _of_read_union(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        if self._names.branches(reader).has_any(self._under_way.get(id(writer), ())):
            return []
        for branch in self._candidates(reader, writer):
            self._budget.spend_steps(1)
            if not self.of(branch, writer, at):
                return []
        return [self._message("MISSING_UNION_BRANCH", at, f"reader union lacking writer type: {writer.kind.upper()}")]

    def _candidates(self, reader: AvroType, writer: AvroType) -> Iterable[AvroType]:
        """Return the branches that may read it, that of its full name first; all others differ in kind or name."""
        branches = self._names.branches(reader)
        if writer.name is not None:
            return branches.named(_kind(writer), writer.name)
        kinds = [writer.kind, *(read for written, read in _PROMOTIONS if written == writer.kind)]
        return branches.of_kinds(kinds)

    def _fields(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        messages: _Messages = []
        for index, field in enumerate(reader.fields):
            self._budget.spend_steps(1 + len(field.aliases))
            place = f"{at.rstrip('/')}/fields/{index}"
            written = self._names.written_as(field, writer)
            if len(written) > 1:
                names = ", ".join(field.name for field in written)
                messages.append(
                    self._message("NAME_MISMATCH", place, f"field {field.name} is several of the writer: {names}")
                )
            elif written:
                _take(messages, self.of(field.type, written[0].type, f"{place}/type"))
            elif field.default is NO_DEFAULT and _has_enum_default(field.type):
                # Avro compares the enum itself with the writer's record: its default is none of the field.
                _take(messages, self.of(field.type, writer, f"{place}/type"))
            elif field.default is NO_DEFAULT:
                messages.append(self._message("READER_FIELD_MISSING_DEFAULT_VALUE", place, field.name))
        return messages

    def _named(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        assert writer.name is not None
        if self._names.is_called(reader, writer.name):
            return []
        return [self._message("NAME_MISMATCH", f"{at.rstrip('/')}/name", f"expected: {writer.name.full}")]

    def _sizes(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        if reader.size == writer.size:
            return []
        return [
            self._message(
                "FIXED_SIZE_MISMATCH", f"{at.rstrip('/')}/size", f"expected: {writer.size}, found: {reader.size}"
            )
        ]

    def _symbols(self, reader: AvroType, writer: AvroType, at: str) -> _Messages:
        self._budget.spend_steps(len(writer.symbols))
        known = self._names.symbols(reader)
        missing = [symbol for symbol in writer.symbols if symbol not in known]
        if not missing or reader.enum_default is not None:
            return []
        return [self._message("MISSING_ENUM_SYMBOLS", f"{at.rstrip('/')}/symbols", f"[{', '.join(missing)}]")]

    def _message(self, kind: str, at: str, what: str) -> str:
        sentence = _SENTENCES[kind].format(at=at, what=what)
        message = f"{{errorType:'{kind}', description:'{sentence}', additionalInfo:'{what}'}}"
        self._budget.spend_bytes(len(message))
        return message


def _take(messages: _Messages, more: _Messages) -> None:
    """Add the messages without copying them: a pair may be met in many places."""
    if more:
        messages.append(more)


def _has_enum_default(type_: AvroType) -> bool:
    return type_.kind == "enum" and type_.enum_default is not None


def _kind(type_: AvroType) -> str:
    return "record" if type_.kind == "error" else type_.kind
