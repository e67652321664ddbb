"""Changes in the schema registry, from whatever client: its topic holds each as a record, with its time.

Of a record only names, versions, ids and levels are told, never a schema.
"""

from collections.abc import Callable, Mapping
from typing import Any

from console.cluster.schemas.access import topic_of
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.records.interface import RecordView
from console.state.clusters.topic_rows import TopicRow
from console.state.history.baseline import load_baseline, save_baseline
from console.state.history.differences import HistoryEvent
from console.state.history.flood import FloodGate
from console.state.history.models import ChangeKind
from console.state.history.queries import SUBJECT
from console.state.history.store import write_flood

#: Where Confluent's registries and ours keep everything, unless they are told otherwise.
TOPIC = "_schemas"
RECORDS_MAX = 1_000
_READ_SECONDS = 1.0
ALL_SUBJECTS = "all subjects"


class SchemaChanges:
    """Used by one thread. The topic's content at the first look is no change."""

    def __init__(self, gateway: ClusterGateway, clock_ms: Callable[[], int]):
        self._gateway, self._now_ms = gateway, clock_ms
        kept = load_baseline(ChangeKind.SCHEMA)
        self._next = None if kept is None else int(kept[TOPIC]["next"])
        self._flood = FloodGate()

    def look(self, topics: Mapping[str, TopicRow]) -> None:
        """Read what was written since the last look. Raises GatewayError."""
        row = topics.get(TOPIC)
        end = row.partitions[0].next_offset if row is not None and row.partitions else None
        if end is None or end == self._next:
            return
        if self._next is None or end < self._next:
            self._keep(end)
            return
        records, position = self._read(self._next, end)
        at_ms = self._now_ms()
        events = [event for record in records if (event := event_of(record)) is not None]
        write_flood(self._flood.admit(events, at_ms), at_ms)
        self._keep(position)

    def _read(self, start: int, end: int) -> tuple[list[RecordView], int]:
        stream = self._gateway.open_records(TOPIC, {0: start}, True)
        try:
            records: list[RecordView] = []
            while stream.positions.get(0, start) < end and len(records) < RECORDS_MAX:
                arrived = stream.read(_READ_SECONDS, RECORDS_MAX - len(records))
                if not arrived:
                    break
                records += arrived
            position = stream.positions.get(0, start)
            return records, max(position, end) if len(records) < RECORDS_MAX else position
        finally:
            stream.close()

    def _keep(self, position: int) -> None:
        self._next = position
        save_baseline(ChangeKind.SCHEMA, {TOPIC: {"next": str(position)}})


def event_of(record: RecordView) -> HistoryEvent | None:
    """Return the event of a subject's change; None for other records, as a registry's own notes."""
    key, value = _object(record.key), _object(record.value)
    kind, subject = str(key.get("keytype", "")), str(key.get("subject") or "")
    words = _words(kind, key, value)
    if not words:
        return None
    name = subject or ALL_SUBJECTS
    tone = "warning" if "deleted" in words else "plain"
    topic = topic_of(subject)
    values = {name: (None, words)}
    return HistoryEvent("schema", topic or f"{SUBJECT}{name}"[:249], f"Schema {name}: {words}", tone, values=values)


def _words(kind: str, key: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    if kind == "SCHEMA":
        version = f"version {_short(key.get('version'))}"
        if not value:
            return f"{version} deleted for good"
        return f"{version} deleted" if value.get("deleted") else f"{version} registered, id {_short(value.get('id'))}"
    if kind in ("DELETE_SUBJECT", "CLEAR_SUBJECT"):
        return f"deleted up to version {_short(value.get('version'))}" if value else ""
    if kind in ("CONFIG", "MODE"):
        name = "compatibility" if kind == "CONFIG" else "mode"
        return f"{name} → {_short(value.get('compatibilityLevel') or value.get('mode') or 'default')}"
    return ""


def _short(value: object) -> str:
    return str(value)[:40]


def _object(text: bytes | None) -> dict[str, Any]:
    """Return the JSON object that the bytes are; empty for anything else: any client may write to the topic."""
    try:
        document = parse_foreign_json(text or b"{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
