"""Source offsets by connector and source partition, as the offset topic tells them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from broker.connect.storage.records import Record, dump, load, offset_record


@dataclass
class StoredOffsets:
    """A partition is the same whatever the order of its members; a record keeps the key that was there first."""

    _by_connector: dict[str, dict[bytes, tuple[bytes, Any, Any]]] = field(default_factory=dict)

    def apply(self, key: bytes | None, value: bytes | None, _offset: int) -> None:
        parsed = load(key or b"")
        if not (isinstance(parsed, list) and len(parsed) == 2 and isinstance(parsed[0], str)):
            return
        connector, partition = parsed
        known = self._by_connector.setdefault(connector, {})
        offset = load(value) if value is not None else None
        if offset is None:
            known.pop(_same(partition), None)
        else:
            known[_same(partition)] = bytes(key or b""), partition, offset

    def of(self, connector: str, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        stored = self._by_connector.get(connector, {}).get(_same(partition))
        return dict(stored[2]) if stored and isinstance(stored[2], dict) else None

    def all(self, connector: str) -> list[tuple[Any, Any]]:
        return [(partition, offset) for _, partition, offset in list(self._by_connector.get(connector, {}).values())]

    def record(self, connector: str, partition: Mapping[str, Any], offset: Mapping[str, Any] | None) -> Record:
        """Return the record to write, under the stored record's key, so that compaction replaces that."""
        key, value = offset_record(connector, partition, offset)
        stored = self._by_connector.get(connector, {}).get(_same(partition))
        return (stored[0] if stored else key), value

    def everything(self) -> list[Record]:
        return [
            (key, dump(offset))
            for known in list(self._by_connector.values())
            for key, _, offset in list(known.values())
        ]


def _same(partition: Any) -> bytes:
    return dump(sorted(partition.items()) if isinstance(partition, Mapping) else partition)
