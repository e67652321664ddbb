"""JSON files that commands are given: read whole, and what is wrong with one is a sentence that names it."""

import json
from pathlib import Path
from typing import Any

from broker.cli.frame.declaration import CommandError
from broker.common.types import TopicPartition


def read_json(path: str) -> dict[str, Any]:
    """The object in the file. Raises CommandError."""
    try:
        value = json.loads(Path(path).read_text())
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is no JSON: {error}.") from None
    if not isinstance(value, dict):
        raise CommandError(f"{path} must hold a JSON object.")
    return value


def entries(path: str, value: dict[str, Any], name: str, **kinds: type) -> list[dict[str, Any]]:
    """The objects listed under `name`, each of which has the fields `kinds`. Raises CommandError."""
    found = value.get(name)
    if not isinstance(found, list):
        raise CommandError(f'{path} has no list "{name}".')
    for each in found:
        for field, kind in kinds.items():
            if not isinstance(each, dict) or not isinstance(each.get(field), kind) or isinstance(each[field], bool):
                wanted = "number" if kind is int else "list" if kind is list else "text"
                raise CommandError(f'{path}: each of "{name}" needs "{field}", which is a {wanted}.')
            if kind is int and not 0 <= each[field] < 1 << 31:
                raise CommandError(f"{path}: {each[field]} is no {field} that there can be.")
    return found


def read_partitions(path: str) -> list[TopicPartition]:
    """`{"partitions":[{"topic":"foo","partition":1}]}`. Raises CommandError, also for one that is named twice."""
    listed = entries(path, read_json(path), "partitions", topic=str, partition=int)
    found = [TopicPartition(each["topic"], each["partition"]) for each in listed]
    twice = sorted({each for each in found if found.count(each) > 1}) if len(found) != len(set(found)) else []
    if twice:
        raise CommandError(f"{path} contains duplicate topic partitions: {', '.join(map(str, twice))}")
    return found
