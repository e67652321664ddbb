"""What an Avro schema calls its fields, symbols, types and branches, in dictionaries made when first needed."""

import heapq
from collections.abc import Iterable, Iterator, Sequence

from broker.registry.avro.model import AvroField, AvroType, Name


class SchemaNames:
    """Names of the types of one comparison, which lives no longer than they do: they are known by identity."""

    def __init__(self) -> None:
        self._fields: dict[int, dict[str, tuple[int, AvroField]]] = {}
        self._symbols: dict[int, frozenset[str]] = {}
        self._aliases: dict[int, frozenset[str]] = {}
        self._branches: dict[int, ReaderBranches] = {}

    def written_as(self, field: AvroField, writer: AvroType) -> list[AvroField]:
        """Return the field of the writer that this one reads, that of its name or of an alias; several if it is
        unclear.
        """
        fields = self._fields.get(id(writer))
        if fields is None:
            fields = self._fields[id(writer)] = {field.name: (at, field) for at, field in enumerate(writer.fields)}
        by_name = [fields[field.name][1]] if field.name in fields else []
        aliases = (fields[name] for name in set(field.aliases) if name in fields and name != field.name)
        return by_name + [written for _, written in sorted(aliases, key=lambda entry: entry[0])]

    def symbols(self, enum: AvroType) -> frozenset[str]:
        if id(enum) not in self._symbols:
            self._symbols[id(enum)] = frozenset(enum.symbols)
        return self._symbols[id(enum)]

    def is_called(self, reader: AvroType, name: Name) -> bool:
        """Return whether the reader's type has the name, in whatever namespace, or its full name as an alias."""
        assert reader.name is not None
        if reader.name.local == name.local:
            return True
        if id(reader) not in self._aliases:
            self._aliases[id(reader)] = frozenset(alias.full for alias in reader.aliases)
        return name.full in self._aliases[id(reader)]

    def branches(self, union: AvroType) -> "ReaderBranches":
        if id(union) not in self._branches:
            self._branches[id(union)] = ReaderBranches(union.inner)
        return self._branches[id(union)]


class ReaderBranches:
    """The branches of a reader's union by kind and name. Named types and others never read one another."""

    def __init__(self, branches: Sequence[AvroType]):
        self._by_kind: dict[str, list[tuple[int, AvroType]]] = {}
        self._by_full_name: dict[tuple[str, str], AvroType] = {}
        self._by_name: dict[tuple[str, str], list[tuple[int, AvroType]]] = {}
        self._by_alias: dict[tuple[str, str], list[tuple[int, AvroType]]] = {}
        self._ids = {id(branch) for branch in branches}
        for at, branch in enumerate(branches):
            if branch.name is None:
                self._by_kind.setdefault(branch.kind, []).append((at, branch))
                continue
            kind = "record" if branch.kind == "error" else branch.kind
            self._by_full_name[kind, branch.name.full] = branch
            self._by_name.setdefault((kind, branch.name.local), []).append((at, branch))
            for alias in {alias.full for alias in branch.aliases}:
                self._by_alias.setdefault((kind, alias), []).append((at, branch))

    def has_any(self, ids: Iterable[int]) -> bool:
        return not self._ids.isdisjoint(ids)

    def of_kinds(self, kinds: Iterable[str]) -> Iterator[AvroType]:
        """Yield unnamed branches, in the order in which the schema has them."""
        branches = [entry for kind in kinds for entry in self._by_kind.get(kind, ())]
        yield from (branch for _, branch in sorted(branches, key=lambda entry: entry[0]))

    def named(self, kind: str, name: Name) -> Iterator[AvroType]:
        """Yield branches of the kind that the name matches: first that of the full name, then in the order of the
        schema.

        One is looked for when the one before it did not do: a union may have thousands of one local name.
        """
        first = previous = self._by_full_name.get((kind, name.full))
        if first is not None:
            yield first
        called, aliased = self._by_name.get((kind, name.local), ()), self._by_alias.get((kind, name.full), ())
        for _, branch in heapq.merge(called, aliased, key=_place):
            if branch is not first and branch is not previous:
                yield branch
            previous = branch


def _place(entry: tuple[int, AvroType]) -> int:
    return entry[0]
