"""Every parameter that some page, form or action of the console takes, found in the code, with values to send."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django import forms

from console.kit.plans.posted import CONFIRMATION_FIELDS
from console.shell.api.actions import ACTIONS

_CONSOLE = Path(__file__).parents[4] / "console"
_READERS = {"get", "getlist"}
HIDDEN, INTERNAL = "secret-plans", "connect-configs"
JOB = {"job": "dedupe", "name": "doubles", "input.topic": "orders", "output.topic": "orders-once"}
CONNECTOR = '{"name": "other", "connector.class": "org.example.FileSourceConnector", "file": "/x", "topic": "orders"}'
#: By action, what its form asks for, as somebody would send it who wants a plan.
EXAMPLES: dict[str, dict[str, str | list[str]]] = {
    "create-topic": {"name": "fresh", "partition_count": "1", "replication_factor": "1"},
    "delete-topic": {"name": "orders"},
    "change-many-topics": {"topic": "orders", "do": "set", "setting": "min.insync.replicas", "value": "2"},
    "add-partitions": {"name": "orders", "partition_count": "9"},
    "copy-record": {"name": "orders", "partition": "0", "offset": "0", "to": "orders", "to_partition": "0"},
    "change-topic": {"name": "orders", "setting": "segment.bytes", "value": "60000"},
    "change-retention": {"name": "orders", "cleanup_policy": "delete", "retention_ms": "1000", "retention_bytes": "-1"},
    "describe-topic": {"name": "orders", "owner": "us", "labels": "", "links": "", "description": "x"},
    "delete-records": {"name": "orders", "to": "end", "partitions": "0"},
    "change-broker": {"broker_id": "1", "setting": "log.cleaner.backoff.ms", "value": "16000"},
    "reset-group": {"group": "readers", "to": "earliest", "topic": "orders"},
    "delete-groups": {"group": ["readers"]},
    "forget-offsets": {"group": "readers", "topic": "orders"},
    "apply-declaration": {"text": "topics: {fresh: {partitions: 1, replication_factor: 1}}", "file": "a.yaml"},
    "move-partitions": {"topic": "orders", "partition": "0", "replicas-0": "2"},
    "drain-broker": {"drain": "1"},
    "change-replication": {"topic": "orders", "factor": "2"},
    "move-in-batches": {"moves": '{"orders": {"0": [2]}}', "size": "1", "throttle": "1"},
    "change-quotas": {"about": "user", "user": "alice", "producer_byte_rate": "1000"},
    "change-client-metrics": {"name": "all-clients", "interval_ms": "30000", "metrics": "org.apache.kafka."},
    "create-rules": {"permission": "ALLOW", "principal": "User:a", "host": "*", "resource": "TOPIC",
                     "pattern": "LITERAL", "name": "orders", "operations": "READ"},
    "add-broker": {"broker_id": "9", "port": "19999", "log_dirs": "1", "rack": ""},
    "set-healing": {"kind": "disk", "mode": "off", "minutes": "5", "limit": "90", "rate": "50"},
    "begin-drill": {"fault": "kill", "whom": "process:broker-1", "seconds": "5"},
    "add-stream": dict(JOB),
    "create-connector": {"plugin": "org.example.FileSourceConnector", "as": "json", "json": CONNECTOR},
    "configure-connector": {"name": "lines", "as": "json", "json": CONNECTOR.replace("other", "lines")},
    "do-to-connector": {"name": "lines", "deed": "pause"},
}  # fmt: skip
#: What stands for a parameter of this name where no example says it.
USUAL = {
    "name": "orders",
    "topic": "orders",
    "group": "readers",
    "to": "orders",
    "setting": "listeners",
    "value": "PLAINTEXT://0.0.0.0:9",
    "scope": "all",
    "username": "mallory",
    "role": "admin",
    "is_active": "on",
    "level": "NONE",
    "mode": "READWRITE",
    "text": "topics: {orders: {absent: true}}",
    "json": CONNECTOR,
    "digest": "-",
    "typed_name": "orders",
    "emergency": "now",
    "reason_to_change": "why",
    "when": "later",
    "do": "delete",
    "format": "csv",
    "when_confirmed": "on",
    "undo": "1",
    "prune": "on",
    "at_once": "on",
    "partition_count": "3",
    "replication_factor": "1",
    "partition": "0",
    "offset": "0",
    "address": "http://[::1]/",
}


@cache
def names() -> frozenset[str]:
    """All there are, also those of views that are written tomorrow."""
    of_actions = {item.rstrip("*") for action in ACTIONS.values() for item in (*action.query, *action.form)}
    of_forms = {field for form in _subclasses(forms.Form) for field in form.base_fields}
    collected = {*of_actions, *of_forms, *CONFIRMATION_FIELDS}
    for path in _CONSOLE.rglob("*.py"):
        if "/gateway/" not in str(path) and "/launch/" not in str(path):
            collected |= set(_names_in(ast.parse(path.read_text())))
    return frozenset(name for name in collected if name)


def _subclasses(form: type) -> Iterator[type]:
    for subclass in form.__subclasses__():
        if subclass.__module__.startswith("console."):
            yield subclass
        yield from _subclasses(subclass)


def _names_in(tree: ast.AST) -> Iterator[str]:
    """Of `request.POST.get("x")`, `asked["x"]` and `"x" in request.GET`, however the parameters are called."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=[ast.Constant(value=str(name)), *_]):
                if attribute in _READERS and _is_parameters(value):
                    yield name
            case ast.Subscript(value=value, slice=ast.Constant(value=str(name))) if _is_parameters(value):
                yield name
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()], comparators=[value]):
                if _is_parameters(value):
                    yield name


def _is_parameters(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in ("GET", "POST")
    return isinstance(node, ast.Name) and node.id in ("parameters", "form", "query", "posted", "question", "fields")


def pool(hidden: bool = False) -> dict[str, str]:
    """One value for each name; with `hidden` those that name objects name what is kept from people, or internal."""
    collected = {name: USUAL.get(name, "1") for name in sorted(names())}
    if hidden:
        collected |= {"name": HIDDEN, "topic": HIDDEN, "to": INTERNAL, "group": "secret-readers", "typed_name": HIDDEN}
    return collected
