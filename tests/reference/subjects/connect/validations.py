"""Configurations that are validated, and what of the answer is compared: all but what keys are for, in words."""

import json
import random
import re
from collections.abc import Iterator
from typing import Any

from tests.reference.comparison import Pieces
from tests.reference.subjects.connect.workers import Ask, document

_TRANSFORMS = "org.apache.kafka.connect.transforms."
_FILE = "org.apache.kafka.connect.file.FileStream"
_PLUGINS = {
    f"{_FILE}SourceConnector": {"topic": "t"},
    f"{_FILE}SinkConnector": {"topics": "t"},
}
_TRANSFORM_KEYS = {
    f"{_TRANSFORMS}InsertField$Value": {"static.field": "f", "static.value": "v"},
    f"{_TRANSFORMS}InsertHeader": {"header": "h", "value.literal": "1"},
    f"{_TRANSFORMS}Cast$Value": {"spec": "int8"},
    f"{_TRANSFORMS}RegexRouter": {"regex": "(.*)", "replacement": "$1-x"},
    f"{_TRANSFORMS}Filter": {},
    f"{_TRANSFORMS}ReplaceField$Key": {"exclude": "a"},
    f"{_TRANSFORMS}TimestampConverter$Value": {"target.type": "string", "format": "yyyy"},
    f"{_TRANSFORMS}HeaderFrom$Value": {"fields": "a", "headers": "b", "operation": "move"},
    f"{_TRANSFORMS}Nothing": {},
}
_PREDICATES = {
    f"{_TRANSFORMS}predicates.TopicNameMatches": {"pattern": "t.*"},
    f"{_TRANSFORMS}predicates.HasHeaderKey": {"name": "h"},
    f"{_TRANSFORMS}predicates.RecordIsTombstone": {},
}
_CONVERTER = "org.apache.kafka.connect."
#: Keys that Kafka's connectors do not have.
_OWN_KEYS = ("audit.enable", "max.line.bytes", "last.line.rest.ms")
#: Further keys, with values that are right, wrong in their type, and wrong in their meaning.
_KEYS: dict[str, list[str | None]] = {
    "tasks.max": ["2", "0", "-1", "x", "1.5", " 3 ", "", None],
    "tasks.max.enforce": ["true", "no"],
    "key.converter": [f"{_CONVERTER}storage.StringConverter", "x.Nothing", f"{_FILE}SinkConnector"],
    "value.converter": [f"{_CONVERTER}json.JsonConverter"],
    "value.converter.schemas.enable": ["false", "perhaps"],
    "header.converter": [f"{_CONVERTER}storage.SimpleHeaderConverter", "x.Nothing"],
    "config.action.reload": ["restart", "none", "later"],
    "errors.retry.timeout": ["-1", "5", "x"],
    "errors.retry.delay.max.ms": ["5", "x"],
    "errors.tolerance": ["all", "none", "some"],
    "errors.log.enable": ["true", "x"],
    "errors.log.include.messages": ["TRUE"],
    "errors.deadletterqueue.topic.name": ["dead", "t"],
    "errors.deadletterqueue.topic.replication.factor": ["1", "x"],
    "errors.deadletterqueue.context.headers.enable": ["true"],
    "topics": ["t, u", "", None],
    "topics.regex": ["t.*", "("],
    "topic": ["t", "", None],
    "file": ["/tmp/x"],
    "batch.size": ["5", "0", "x"],
    "exactly.once.support": ["requested", "required", "x"],
    "transaction.boundary": ["poll", "interval", "connector", "x"],
    "transaction.boundary.interval.ms": ["5", "-1"],
    "offsets.storage.topic": ["o", ""],
    "topic.creation.groups": ["a", "a,a", ""],
    "topic.creation.a.include": ["x.*", "("],
    "topic.creation.a.partitions": ["2", "x"],
    "topic.creation.default.replication.factor": ["1", "-1", "0", "x"],
    "topic.creation.default.partitions": ["1", "0"],
    "producer.override.acks": ["all", "x"],
    "consumer.override.max.poll.records": ["5"],
    "connector.client.config.override.policy": ["All"],
    "something.else": ["x"],
    "connector.plugin.version": ["", "1.0"],
}


def validation(drawn: random.Random) -> dict:
    """Draw a plugin and a configuration of it."""
    plugin = drawn.choice(list(_PLUGINS))
    config: dict[str, Any] = {"name": "c", "connector.class": plugin, **_PLUGINS[plugin]}
    for key in drawn.sample(list(_KEYS), drawn.choice([0, 1, 1, 2, 3])):
        config[key] = drawn.choice(_KEYS[key])
    if drawn.random() < 0.35:
        config |= _aliased(drawn, "transforms", _TRANSFORM_KEYS)
        if drawn.random() < 0.4:
            config |= _aliased(drawn, "predicates", _PREDICATES)
            config["transforms.a.predicate"] = drawn.choice(["a", "b", "none"])
            if drawn.random() < 0.3:
                config["transforms.a.negate"] = drawn.choice(["true", "x"])
    if drawn.random() < 0.06:
        config.pop(drawn.choice(["name", "connector.class"]))
    return {"plugin": drawn.choice([plugin, plugin, plugin.rsplit(".", 1)[1]]), "config": config}


def _aliased(drawn: random.Random, what: str, plugins: dict[str, dict[str, str]]) -> dict[str, str]:
    plugin = drawn.choice(list(plugins))
    keys = {f"{what}.a.{key}": text for key, text in plugins[plugin].items()}
    if keys and drawn.random() < 0.3:
        keys.pop(drawn.choice(list(keys)))
    return {what: drawn.choice(["a", "a", "a", "a,b", "a,a"]), f"{what}.a.type": plugin, **keys}


def shortened(case: dict, ask: Ask) -> dict:
    """Return the status and the document, or the error's text."""
    body = json.dumps(case["config"])
    status, _, text = ask("PUT", f"/connector-plugins/{case['plugin']}/config/validate", body)
    answer = document(text)
    if status != 200:
        return {"status": status, "answer": answer}
    return {
        "status": status,
        "name": answer["name"],
        "error_count": answer["error_count"],
        "groups": answer["groups"],
        "configs": {item["value"]["name"]: _config(item) for item in answer["configs"] if _is_kafkas(item)},
        "order": [
            name for item in answer["configs"] if _is_kafkas(item) and _is_placed(name := item["value"]["name"], case)
        ],
    }


def _is_placed(name: str, case: dict) -> bool:
    """Whether a form has a place for it: not for keys of a converter, for what no key declares, and for nulls."""
    is_of_converter = ".converter." in name and not name.endswith(".plugin.version")
    is_declared = ".override." not in name and not re.match(r"topic\.creation\.(?!groups)", name)
    return is_declared and not is_of_converter and case["config"].get(name, "") is not None


def _is_kafkas(item: dict) -> bool:
    """The worker sets converter.type itself; a converter's keys come in the order of a Java hash map."""
    name = item["value"]["name"]
    return name not in _OWN_KEYS and not name.endswith(".converter.type")


def _config(item: dict) -> dict:
    """What a key is for is said in words of ours; versions, and plugins that Kafka has not, are ours."""
    definition = item.get("definition")
    shown = {key: text for key, text in (definition or {}).items() if key not in ("documentation", "name", "order")}
    value = {key: text for key, text in item["value"].items() if key != "name"}
    recommended = [text for text in value["recommended_values"] if _is_kafkas_plugin(text)]
    value["recommended_values"] = recommended if len(recommended) < 5 else [f"{len(recommended)} plugins of Kafka"]
    value["errors"] = [re.sub(r"available versions: \[.*", "available versions: …", text) for text in value["errors"]]
    if item["value"]["name"].endswith(".plugin.version"):
        shown["default_value"] = _mark(shown["default_value"])
        value |= {"value": _mark(value["value"]), "recommended_values": list(map(_mark, value["recommended_values"]))}
    return {"definition": _line(shown) if definition else None, **value}


def _line(definition: dict) -> str:
    """Return a definition as one text: thousands of them are kept."""
    return ", ".join(f"{key} {definition[key]}" for key in sorted(definition) if definition[key] not in (None, []))


def _is_kafkas_plugin(name: str) -> bool:
    return "." not in name or name.startswith("org.apache.kafka.") or name[0].isdigit()


def _mark(version: str | None) -> str | None:
    return None if version is None else "…"


def differing(case: dict, ours: dict, reference: dict) -> Pieces:
    """Return what differs: each part of the answer, and each attribute of each key."""
    if ours.get("status") != 200 or reference.get("status") != 200:
        return [(case, ours, reference)]
    pieces = [
        (case, {part: ours[part]}, {part: reference[part]})
        for part in ("name", "groups", "order")
        if ours[part] != reference[part]
    ]
    for key in {**ours["configs"], **reference["configs"]}:
        both = ours["configs"].get(key), reference["configs"].get(key)
        if both[0] == both[1]:
            continue
        if None in both or None in (both[0]["definition"], both[1]["definition"]):
            pieces.append((case, {"key": key, "config": both[0]}, {"key": key, "config": both[1]}))
            continue
        pieces += [
            (case, {"key": key, part: both[0][part]}, {"key": key, part: both[1][part]})
            for part in both[1]
            if both[0][part] != both[1][part]
        ]
    if not pieces and ours["error_count"] != reference["error_count"]:
        pieces = [(case, {"error_count": ours["error_count"]}, {"error_count": reference["error_count"]})]
    return pieces


def smaller(case: dict) -> Iterator[dict]:
    """Yield the configuration without each of its keys."""
    for key in case["config"]:
        if key != "connector.class":
            yield {**case, "config": {name: text for name, text in case["config"].items() if name != key}}
