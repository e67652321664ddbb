"""What connectors and tasks are doing, and which topics they used, as the status topic tells it. Pure."""

from dataclasses import dataclass, field
from typing import Any

from broker.connect.storage.records import load

Who = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class ConnectorState:
    state: str
    worker_id: str
    generation: int
    trace: str | None = None

    def shown(self) -> dict[str, str]:
        return {"state": self.state, "worker_id": self.worker_id} | ({"trace": self.trace} if self.trace else {})


@dataclass
class States:
    """Statuses by connector and task; None is the connector itself."""

    states: dict[Who, ConnectorState] = field(default_factory=dict)
    topics: dict[str, set[str]] = field(default_factory=dict)

    def apply(self, key: bytes | None, value: bytes | None, _offset: int) -> None:
        text = (key or b"").decode(errors="replace")
        content = load(value) if value is not None else None
        if text.startswith("status-topic-"):
            topic, _, connector = text[len("status-topic-") :].partition(":connector-")
            topics = self.topics.setdefault(connector, set())
            topics.add(topic) if isinstance(content, dict) else topics.discard(topic)
        elif text.startswith("status-connector-"):
            self._state((text[len("status-connector-") :], None), content)
        elif text.startswith("status-task-"):
            connector, _, number = text[len("status-task-") :].rpartition("-")
            if number.isdecimal():
                self._state((connector, int(number)), content)

    def of(self, connector: str) -> dict[int, ConnectorState]:
        """Return the states of its tasks."""
        return {task: state for (name, task), state in sorted(self._tasks()) if name == connector}

    def _tasks(self) -> list[tuple[tuple[str, int], ConnectorState]]:
        return [((name, task), state) for (name, task), state in list(self.states.items()) if task is not None]

    def may_write(self, who: Who, worker_id: str, generation: int) -> bool:
        """Return whether a worker that ends may say so: not over what its successor has said since."""
        known = self.states.get(who)
        return known is None or known.worker_id == worker_id or known.generation <= generation

    def _state(self, who: Who, content: Any) -> None:
        if not isinstance(content, dict):
            self.states.pop(who, None)
            return
        state = ConnectorState(
            str(content.get("state")),
            str(content.get("worker_id")),
            int(content.get("generation") or 0),
            content.get("trace"),
        )
        known = self.states.get(who)
        if known is None or not _is_late(state, known):
            self.states[who] = state


def _is_late(state: ConnectorState, known: ConnectorState) -> bool:
    """Return whether the state is late: another worker's end of a unit whose successor has started (KAFKA-12525); a
    suspended worker may report it much later.
    """
    if state.worker_id == known.worker_id or state.state not in ("UNASSIGNED", "FAILED"):
        return False
    is_taken_over = known.state == "RUNNING" and state.state == "UNASSIGNED" and state.generation == known.generation
    return is_taken_over or state.generation < known.generation
