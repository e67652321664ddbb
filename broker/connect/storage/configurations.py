"""Connectors and tasks as the config topic tells them, record by record. Pure."""

from dataclasses import dataclass, field
from typing import Any

from broker.connect.group.session_key import KEY, SessionKey, read_key
from broker.connect.group.wire import CONNECTOR, Unit
from broker.connect.storage.records import TARGETS, load


@dataclass
class Configurations:
    """`offset` is the one behind the last record. What is left of a deleted connector does not count (KAFKA-16838)."""

    offset: int = 0
    connectors: dict[str, dict[str, str]] = field(default_factory=dict)
    tasks: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    #: Their tasks were written in part only: whoever runs the connector writes them again.
    inconsistent: set[str] = field(default_factory=set)
    #: How often a connector's tasks were configured: who was started by an older count is a zombie.
    generations: dict[str, int] = field(default_factory=dict)
    #: How many producers the last round of fencing left, also of deleted connectors, and who was configured since.
    fenced: dict[str, int] = field(default_factory=dict)
    to_fence: set[str] = field(default_factory=set)
    #: By which workers know requests of one another; a compacted topic keeps the last one.
    session_key: SessionKey | None = None
    _written: dict[str, dict[int, dict[str, str]]] = field(default_factory=dict)

    def apply(self, key: bytes | None, value: bytes | None, offset: int) -> str | None:
        """Return the connector that the record is about, if there is such a change."""
        self.offset = offset + 1
        kind, name = _split((key or b"").decode(errors="replace"))
        content = load(value) if value is not None else None
        match kind:
            case "session-key":
                self.session_key = read_key(content) or self.session_key
                return None
            case "connector":
                self._connector(name, _properties(content))
            case "task":
                name, _, number = name.rpartition("-")
                self._task(name, number, _properties(content))
                return None
            case "commit":
                self._commit(name, content)
            case "tasks-fencing":
                self._fencing(name, content)
                return None
            case "target-state":
                self._target(name, content)
            case _:
                return None
        return name

    def units(self) -> frozenset[Unit]:
        """Return all connectors and tasks that the group should run. A stopped connector has no tasks."""
        return frozenset(
            Unit(name, number)
            for name in self.connectors
            for number in (CONNECTOR, *range(len(self.tasks.get(name, ()))))
        )

    def target(self, name: str) -> str:
        return self.targets.get(name, "STARTED")

    def _connector(self, name: str, properties: dict[str, str] | None) -> None:
        if properties is not None:
            self.connectors[name] = properties
            return
        for kept in (self.connectors, self.tasks, self._written):
            kept.pop(name, None)
        self.inconsistent.discard(name)

    def _task(self, name: str, number: str, properties: dict[str, str] | None) -> None:
        if properties is not None and number.isdecimal() and len(number) < 10:
            self._written.setdefault(name, {})[int(number)] = properties

    def _commit(self, name: str, content: Any) -> None:
        written = self._written.pop(name, {})
        count = content.get("tasks") if isinstance(content, dict) else None
        if name not in self.connectors or not isinstance(count, int):
            return
        if any(number not in written for number in range(count)):
            self.inconsistent.add(name)
            return
        self.inconsistent.discard(name)
        self.tasks[name] = [written[number] for number in range(count)]
        self.generations[name] = self.generations.get(name, 0) + 1
        self.to_fence.add(name)

    def _fencing(self, name: str, content: Any) -> None:
        count = content.get("task-count") if isinstance(content, dict) else None
        if isinstance(count, int):
            self.fenced[name] = count
            self.to_fence.discard(name)

    def _target(self, name: str, content: Any) -> None:
        target = content.get("state.v2", content.get("state")) if isinstance(content, dict) else None
        if target in TARGETS:
            self.targets[name] = target
        elif content is None:
            self.targets.pop(name, None)


def _properties(content: Any) -> dict[str, str] | None:
    properties = content.get("properties") if isinstance(content, dict) else None
    return properties if isinstance(properties, dict) else None


def _split(key: str) -> tuple[str, str]:
    if key == KEY:
        return KEY, ""
    for kind in ("target-state", "tasks-fencing", "connector", "task", "commit"):
        if key.startswith(f"{kind}-"):
            return kind, key[len(kind) + 1 :]
    return "", ""
