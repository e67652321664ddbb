"""Requests to a worker, one after the other, and what of each answer is compared."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from tests.barnabas_cluster import await_true
from tests.reference.comparison import Pieces
from tests.reference.subjects.connect.workers import Ask, document

_SETTLES_WITHIN_S = 30
_NAMES = ("pear", "plum tree")
_FILE = "org.apache.kafka.connect.file.FileStream"
_SOURCE = {"connector.class": f"{_FILE}SourceConnector", "topic": "t", "file": "/nowhere/pears"}


def _config(drawn: random.Random, name: str) -> dict[str, Any]:
    return {**_SOURCE, **({"name": name} if drawn.random() < 0.5 else {}), "tasks.max": "1"}


def _create(drawn: random.Random, name: str) -> list:
    body: dict[str, Any] = {"name": name, "config": _config(drawn, name)}
    kind = drawn.random()
    if kind < 0.15:
        body["initial_state"] = drawn.choice(["PAUSED", "STOPPED", "stopped", "ASLEEP", None])
    elif kind < 0.2:
        body["unknown"] = 1
    elif kind < 0.25:
        body.pop(drawn.choice(["name", "config"]))
    elif kind < 0.3:
        body["config"]["name"] = "another"
    elif kind < 0.35:
        body["config"]["tasks.max"] = drawn.choice(["x", None, 1, True, {"a": 1}])
    elif kind < 0.4:
        body["config"].pop("connector.class")
    elif kind < 0.45:
        body["config"]["connector.class"] = "Nothing"
    return ["POST", "/connectors", json.dumps(body)]


def _step(drawn: random.Random) -> list:
    name = drawn.choice(_NAMES)
    at = f"/connectors/{name.replace(' ', '%20')}"
    config = json.dumps(_config(drawn, name))
    return drawn.choice(
        [
            _create(drawn, name), _create(drawn, name), _create(drawn, name), ["PUT", f"{at}/config", config],
            ["GET", "/", None], ["GET", "/connectors", None], ["GET", at, None], ["GET", f"{at}/config", None],
            ["GET", f"{at}/status", None], ["GET", f"{at}/tasks", None], ["GET", f"{at}/tasks-config", None],
            ["GET", f"{at}/tasks/0/status", None], ["GET", f"{at}/tasks/7/status", None],
            ["GET", f"{at}/tasks/x/status", None], ["GET", f"{at}/topics", None], ["PUT", f"{at}/topics/reset", None],
            ["PUT", f"{at}/pause", None], ["PUT", f"{at}/resume", None], ["PUT", f"{at}/stop", None],
            ["POST", f"{at}/restart", None], ["POST", f"{at}/restart?includeTasks=true&onlyFailed=true", None],
            ["POST", f"{at}/restart?includeTasks=true", None], ["POST", f"{at}/tasks/0/restart", None],
            ["POST", f"{at}/tasks/9/restart", None], ["DELETE", at, None], ["PATCH", f"{at}/config", '{"file": null}'],
            ["PATCH", f"{at}/config", '{"tasks.max": "x"}'], ["PATCH", f"{at}/config", "[]"],
            ["GET", f"/connectors?expand={drawn.choice(['status', 'info', 'bogus'])}", None],
            ["GET", "/connectors?expand=status&expand=info", None],
            ["OPTIONS", drawn.choice(["/connectors", at, "/nothing"]), None],
            ["GET", drawn.choice(["/nothing", "/connectors/", f"{at}/nothing", "/health"]), None],
            ["PUT", drawn.choice(["/connectors", at, "/health"]), config], ["DELETE", "/connectors", None],
            ["POST", "/connectors", drawn.choice(["", "{", "[]", "null", "1", '"x"', '{"name": 1}', "{} {}"])],
            ["PUT", f"{at}/config", drawn.choice(["", "{", "[]", "null", '{"a": null}', '{"name": "other"}', "{}"])],
            ["PUT", "/connector-plugins/Nothing/config/validate", "{}"],
            ["PUT", "/connector-plugins/FileStreamSource/config/validate", drawn.choice(["{}", "[]", "null", ""])],
            ["GET", "/connector-plugins/Nothing/config", None],
            ["GET", f"/admin/loggers/{drawn.choice(['root', 'no.such.logger', 'org.apache.kafka.connect'])}", None],
            ["PUT", f"/admin/loggers/{drawn.choice(['root', 'x.y'])}",
             drawn.choice(['{"level": "LOUD"}', '{"level": "WARN"}', "{}", "", '{"level": "debug"}'])],
        ]
    )  # fmt: skip


def dialogue(drawn: random.Random) -> dict:
    """Draw requests; half of the dialogues begin with a connector that runs."""
    steps = [["POST", "/connectors", json.dumps({"name": "pear", "config": _SOURCE})]] if drawn.random() < 0.6 else []
    return {"steps": [*steps, *(_step(drawn) for _ in range(drawn.choice([1, 1, 2, 3, 4])))]}


def outcome_of(case: dict, ask: Ask) -> dict:
    """Return each answer; connectors are gone afterwards, and loggers as they were."""
    try:
        return {"answers": [_answer(step, ask) for step in case["steps"]]}
    finally:
        for name in _NAMES:
            ask("DELETE", f"/connectors/{name.replace(' ', '%20')}", None)
        if any("/admin/loggers/" in path for _, path, _ in case["steps"]):
            ask("PUT", "/admin/loggers/root", '{"level": "WARN"}')


def _answer(step: list, ask: Ask) -> dict:
    method, path, body = step
    if method == "GET" or "/restart" in path:
        _settle(ask)
    status, headers, text = ask(method, path, body)
    answer: dict[str, Any] = {"status": status, "body": _plain(document(text))}
    if "/admin/loggers/" in path and isinstance(answer["body"], list):
        answer["body"] = "<names of loggers>"
    if path == "/connectors" and isinstance(answer["body"], list):
        answer["body"].sort()  # Kafka's are in the order of a hash map
    if "location" in headers:
        answer["location"] = re.sub(r"^http://[^/]+", "http://worker", headers["location"])
    if method == "OPTIONS":
        answer["body"] = None  # Kafka's is WADL
        answer["allow"] = sorted(part.strip() for part in headers.get("allow", "").split(",") if part.strip())
    elif status in (200, 201, 202) and text:
        answer["type"] = headers.get("content-type", "").partition(";")[0]
    if method in ("POST", "PUT", "PATCH") and isinstance(answer["body"], dict):
        answer["body"].pop("tasks", None)  # they may be there a moment later
    return answer


def _settle(ask: Ask) -> None:
    """Wait until the connectors that are there, and their tasks, are in the state that they were asked for."""

    def are_settled() -> bool:
        shown = document(ask("GET", "/connectors?expand=status", None)[2])
        states = [item.get("status") for item in shown.values()] if isinstance(shown, dict) else []
        count = len(document(ask("GET", "/connectors", None)[2]) or [])
        return len(states) == count and all(state is not None and _is_settled(state) for state in states)

    await_true(are_settled, "connectors are in the state that they were asked for", _SETTLES_WITHIN_S)


def _is_settled(status: dict) -> bool:
    state, tasks = status["connector"]["state"], [task["state"] for task in status["tasks"]]
    if state == "STOPPED":
        return tasks == []
    return state in ("RUNNING", "PAUSED", "FAILED") and tasks != [] and set(tasks) <= {state, "FAILED"}


def _plain(node: Any) -> Any:
    """Without what differs between any two workers."""
    if isinstance(node, dict):
        return {key: _text(key, value) for key, value in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node


def _text(key: str, value: Any) -> Any:
    if key == "last_modified":
        return None  # of a level that another dialogue has set
    if key in ("worker_id", "version", "commit", "kafka_cluster_id", "trace"):
        return f"<{key}>" if value is not None else None
    return _plain(value)


def differing(case: dict, ours: dict, reference: dict) -> Pieces:
    """Return each request whose answer differs."""
    if "answers" not in ours:
        return [(case, ours, reference)]
    return [
        ({"step": step}, own, other)
        for step, own, other in zip(case["steps"], ours["answers"], reference["answers"], strict=True)
        if own != other
    ]


def smaller(case: dict) -> Iterator[dict]:
    """Yield the dialogue without each of its requests."""
    for at in range(len(case["steps"])):
        yield {"steps": case["steps"][:at] + case["steps"][at + 1 :]}
