"""Keys and values of the three internal topics, as Kafka's workers write them: JSON without a schema. Pure."""

import json
from collections.abc import Mapping
from typing import Any

#: Target states of KIP-875, and what workers before it are told.
TARGETS = {"STARTED": "STARTED", "PAUSED": "PAUSED", "STOPPED": "PAUSED"}

_RESTART = "restart-connector-"
_LOGGER = "logger-cluster-"

Record = tuple[bytes, bytes | None]


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def load(data: bytes) -> Any:
    """Parse a record's JSON; None for anything else: any client may have written it."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def connector_record(name: str, config: Mapping[str, str | None] | None) -> Record:
    """Return the record; a `config` of None deletes the connector."""
    return f"connector-{name}".encode(), None if config is None else dump({"properties": dict(config)})


def task_records(name: str, configs: list[dict[str, str]]) -> list[Record]:
    """Return the records of all tasks of a connector, and the commit record that makes them count."""
    tasks = [(f"task-{name}-{n}".encode(), dump({"properties": config})) for n, config in enumerate(configs)]
    return [*tasks, (f"commit-{name}".encode(), dump({"tasks": len(configs)}))]


def target_record(name: str, target: str | None) -> Record:
    value = None if target is None else dump({"state": TARGETS[target], "state.v2": target})
    return f"target-state-{name}".encode(), value


def fencing_record(name: str, tasks: int) -> Record:
    return f"tasks-fencing-{name}".encode(), dump({"task-count": tasks})


def offset_record(connector: str, partition: Mapping[str, Any], offset: Mapping[str, Any] | None) -> Record:
    return dump([connector, dict(partition)]), None if offset is None else dump(dict(offset))


def status_record(
    connector: str, task: int | None, state: str, worker_id: str, generation: int, trace: str | None = None
) -> Record:
    key = f"status-connector-{connector}" if task is None else f"status-task-{connector}-{task}"
    value = {"state": state, "trace": trace, "worker_id": worker_id, "generation": generation}
    return key.encode(), None if state == "DESTROYED" else dump(value)


def restart_record(name: str, *, includes_tasks: bool, only_failed: bool) -> Record:
    return f"{_RESTART}{name}".encode(), dump({"include-tasks": includes_tasks, "only-failed": only_failed})


def restart_asked(key: bytes | None, value: bytes | None) -> tuple[str, bool, bool] | None:
    """Return the connector, whether its tasks restart, and whether only failed ones (KIP-745)."""
    content = load(value) if key is not None and value is not None and key.startswith(_RESTART.encode()) else None
    if not isinstance(content, dict):
        return None
    name = (key or b"").decode(errors="replace").removeprefix(_RESTART)
    return name, content.get("include-tasks") is True, content.get("only-failed") is True


def logger_record(name: str, level: str) -> Record:
    return f"{_LOGGER}{name}".encode(), dump({"level": level})


def logger_level(key: bytes | None, value: bytes | None) -> tuple[str, str] | None:
    """Return logger and level of such a record, else None (KIP-976)."""
    content = load(value) if key is not None and value is not None and key.startswith(_LOGGER.encode()) else None
    level = content.get("level") if isinstance(content, dict) else None
    return ((key or b"").decode(errors="replace").removeprefix(_LOGGER), level) if isinstance(level, str) else None


def topic_record(topic: str, connector: str, task: int, now_ms: int) -> Record:
    value = {"topic": {"name": topic, "connector": connector, "task": task, "discoverTimestamp": now_ms}}
    return f"status-topic-{topic}:connector-{connector}".encode(), dump(value)
