"""What Kafka Connect's REST answers, read with care: a worker may be of any version, broken, or somebody else. Pure.

What is missing or of another kind than it should be is an UnexpectedAnswerError; texts are cut to what a page shows.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.kit.common.foreign_json import parse_foreign_json

#: Connect sets no bound; whoever calls a connector longer than this is not shown it.
NAME_LENGTH_MAX = 255
CONNECTORS_MAX = 2_000
TASKS_MAX = 1_000
#: Of a failed task the trace: the first and the last of it say why.
TRACE_LENGTH_MAX = 12_000
KEYS_MAX = 500
VALUE_LENGTH_MAX = 64 * 1024
PLUGINS_MAX = 1_000
OFFSETS_MAX = 10_000
_WORD_LENGTH_MAX, _SENTENCE_LENGTH_MAX, _DOCUMENTATION_LENGTH_MAX = 255, 2_000, 4_000


class UnexpectedAnswerError(Exception):
    """The response is not Kafka Connect's; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class WorkerView:
    version: str
    kafka_cluster_id: str


@dataclass(frozen=True, slots=True)
class TaskView:
    """`number` -1: the connector itself."""

    number: int
    state: str
    worker: str
    trace: str = ""

    @property
    def is_failed(self) -> bool:
        return self.state == "FAILED"


@dataclass(frozen=True, slots=True)
class ConnectorView:
    """`kind` is source, sink or unknown; `config` has its secrets still."""

    name: str
    kind: str
    own: TaskView
    tasks: tuple[TaskView, ...]
    config: Mapping[str, str]

    @property
    def state(self) -> str:
        """The connector's state; also paused if all its tasks are, which the connector may report later or never."""
        is_paused = self.own.state == "RUNNING" and self.tasks and all(task.state == "PAUSED" for task in self.tasks)
        return "PAUSED" if is_paused else self.own.state

    @property
    def class_name(self) -> str:
        return self.config.get("connector.class", "")


@dataclass(frozen=True, slots=True)
class Listing:
    """`left_out`: connectors that are not shown, because of their names or their number."""

    connectors: tuple[ConnectorView, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class PluginView:
    name: str
    kind: str
    version: str

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class KeyView:
    """One key as a plugin declares it."""

    name: str
    type: str
    is_required: bool
    default: str | None
    importance: str
    documentation: str
    group: str
    order: int
    label: str


@dataclass(frozen=True, slots=True)
class ValueView:
    errors: tuple[str, ...]
    recommended: tuple[str, ...]
    is_visible: bool


@dataclass(frozen=True, slots=True)
class Validation:
    keys: tuple[KeyView, ...]
    values: Mapping[str, ValueView]

    @property
    def errors(self) -> dict[str, tuple[str, ...]]:
        return {name: item.errors for name, item in self.values.items() if item.errors}


@dataclass(frozen=True, slots=True)
class OffsetView:
    """Both as JSON objects: what they hold is the connector's own affair."""

    partition: Mapping[str, Any]
    offset: Mapping[str, Any] | None

    @property
    def place(self) -> str:
        """The source partition in words: of a sink `orders-0`."""
        if set(self.partition) == {"kafka_topic", "kafka_partition"}:
            return f"{self.partition['kafka_topic']}-{self.partition['kafka_partition']}"
        return compact(self.partition)

    @property
    def position(self) -> str:
        """The offset: of a sink only the number."""
        if self.offset is None:
            return ""
        return str(self.offset["kafka_offset"]) if set(self.offset) == {"kafka_offset"} else compact(self.offset)


def compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parsed(body: bytes) -> Any:
    try:
        return parse_foreign_json(body)
    except (ValueError, RecursionError):
        raise UnexpectedAnswerError("it is no JSON") from None


def error_text(body: bytes) -> str:
    """Return the sentence of an error, empty if there is none."""
    try:
        document = parsed(body)
    except UnexpectedAnswerError:
        return ""
    return _cut(document.get("message"), _SENTENCE_LENGTH_MAX) if isinstance(document, dict) else ""


def worker(document: Any) -> WorkerView:
    fields = _map(document, "the worker")
    return WorkerView(_text(fields, "version"), _cut(fields.get("kafka_cluster_id"), _WORD_LENGTH_MAX))


def listing(infos: Any, statuses: Any) -> Listing:
    """Parse `GET /connectors?expand=info` and `…=status`; a connector without a status yet has no tasks."""
    connectors, of_status = _map(infos, "the list of connectors"), _map(statuses, "the list of states")
    chosen = sorted(name for name in connectors if 0 < len(name) <= NAME_LENGTH_MAX)[:CONNECTORS_MAX]

    def both(name: str) -> dict[str, Any]:
        fields = _map(connectors[name], f"the connector {name}")
        return {"info": fields.get("info"), "status": _map(of_status.get(name) or {}, "a state").get("status")}

    return Listing(tuple(connector(name, both(name)) for name in chosen), len(connectors) - len(chosen))


def connector(name: str, document: Any) -> ConnectorView:
    both = _map(document, f"the connector {name}")
    info = _map(both.get("info") or {}, f"the connector {name}")
    status = _map(both.get("status") or {}, f"the status of {name}")
    of_tasks = _list(status.get("tasks") or [], f"the tasks of {name}")[:TASKS_MAX]
    kind = info.get("type") or status.get("type")
    own = {"state": "UNASSIGNED", **_map(status.get("connector") or {}, f"the status of {name}"), "id": -1}
    return ConnectorView(
        name,
        kind if kind in ("source", "sink") else "unknown",
        _task(own),
        tuple(sorted(map(_task, of_tasks), key=lambda task: task.number)),
        config(info.get("config") or {}),
    )


def config(document: Any) -> dict[str, str]:
    """Return the configuration without keys that have no value."""
    fields = _map(document, "the configuration")
    if len(fields) > KEYS_MAX:
        raise UnexpectedAnswerError(f"the configuration has {len(fields)} keys")
    return {key[:_WORD_LENGTH_MAX]: _value(value) for key, value in fields.items() if value is not None}


def plugins(document: Any) -> tuple[PluginView, ...]:
    listed = [_map(item, "a plugin") for item in _list(document, "the plugins")[:PLUGINS_MAX]]
    made = (PluginView(_text(entry, "class"), _text(entry, "type"), _cut(entry.get("version"), 60)) for entry in listed)
    return tuple(view for view in made if view.kind in ("source", "sink"))


def keys(document: Any) -> tuple[KeyView, ...]:
    return tuple(_key(_map(value, "a key")) for value in _list(document, "the declaration")[:KEYS_MAX])


def validation(document: Any) -> Validation:
    declared: list[KeyView] = []
    values: dict[str, ValueView] = {}
    for entry in _list(_map(document, "the validation").get("configs"), "the validation")[:KEYS_MAX]:
        both = _map(entry, "a key")
        if both.get("definition") is not None:
            declared.append(_key(_map(both["definition"], "a key")))
        value = _map(both.get("value"), "a value")
        values[_text(value, "name")] = ValueView(
            tuple(_texts(value.get("errors"))),
            tuple(_texts(value.get("recommended_values")))[:100],
            value.get("visible") is not False,
        )
    return Validation(tuple(declared), values)


def offsets(document: Any) -> tuple[OffsetView, ...]:
    listed = _list(_map(document, "the offsets").get("offsets"), "the offsets")
    if len(listed) > OFFSETS_MAX:
        raise UnexpectedAnswerError(f"there are {len(listed)} offsets")
    return tuple(map(_offset, listed))


def topics(name: str, document: Any) -> tuple[str, ...]:
    of_connector = _map(_map(document, "the topics").get(name), "the topics")
    return tuple(sorted(set(_texts(of_connector.get("topics")))))[:CONNECTORS_MAX]


def message(document: Any) -> str:
    return _cut(document.get("message"), _SENTENCE_LENGTH_MAX) if isinstance(document, dict) else ""


def _task(document: Any) -> TaskView:
    fields = _map(document, "a task")
    number = fields.get("id")
    if not isinstance(number, int) or isinstance(number, bool) or not -1 <= number < 1_000_000:
        raise UnexpectedAnswerError("a task has no number")
    trace = fields.get("trace")
    return TaskView(
        number,
        _text(fields, "state")[:40],
        _cut(fields.get("worker_id"), _WORD_LENGTH_MAX),
        _shortened(trace) if isinstance(trace, str) else "",
    )


def _shortened(trace: str) -> str:
    if len(trace) <= TRACE_LENGTH_MAX:
        return trace
    half = TRACE_LENGTH_MAX // 2
    return f"{trace[:half]}\n… {len(trace) - 2 * half} characters are left out …\n{trace[-half:]}"


def _key(fields: Mapping[str, Any]) -> KeyView:
    default = fields.get("default_value")
    order = fields.get("order")
    name = _text(fields, "name")
    return KeyView(
        name,
        _cut(fields.get("type"), 40).upper() or "STRING",
        fields.get("required") is True,
        None if default is None else _value(default),
        _cut(fields.get("importance"), 40).upper(),
        _cut(fields.get("documentation"), _DOCUMENTATION_LENGTH_MAX),
        _cut(fields.get("group"), 100) or "Common",
        order if isinstance(order, int) else 0,
        _cut(fields.get("display_name"), 200) or name,
    )


def _offset(document: Any) -> OffsetView:
    fields = _map(document, "an offset")
    offset = fields.get("offset")
    return OffsetView(_map(fields.get("partition"), "an offset"), None if offset is None else _map(offset, "an offset"))


def _map(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UnexpectedAnswerError(f"{what[:100]} is no object")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise UnexpectedAnswerError(f"{what[:100]}: no list")
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise UnexpectedAnswerError(f"there is no {name}")
    return value[:_WORD_LENGTH_MAX]


def _texts(value: Any) -> Iterator[str]:
    listed: Iterable[Any] = value if isinstance(value, list) else ()
    return (name[:_SENTENCE_LENGTH_MAX] for name in listed if isinstance(name, str))


def _cut(value: Any, length_max: int) -> str:
    return value[:length_max] if isinstance(value, str) else ""


def _value(value: Any) -> str:
    return (value if isinstance(value, str) else compact(value))[:VALUE_LENGTH_MAX]
