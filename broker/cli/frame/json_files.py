"""JSON files that commands are given: read whole, and what is wrong with one is a sentence that names it."""

import json
from pathlib import Path
from typing import Any

from broker.cli.frame.declaration import CommandError
from broker.common.types import TopicPartition


def read_json(path: str) -> dict[str, Any]:
    """Return the object in the file. Raises CommandError."""
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
    """Return the objects listed under `name`, each of which has the fields `kinds`. Raises CommandError."""
    listed = value.get(name)
    if not isinstance(listed, list):
        raise CommandError(f'{path} has no list "{name}".')
    for entry in listed:
        for field, kind in kinds.items():
            if not isinstance(entry, dict) or not isinstance(entry.get(field), kind) or isinstance(entry[field], bool):
                wanted = "number" if kind is int else "list" if kind is list else "text"
                raise CommandError(f'{path}: each of "{name}" needs "{field}", which is a {wanted}.')
            if kind is int and not 0 <= entry[field] < 1 << 31:
                raise CommandError(f"{path}: {entry[field]} is no {field} that there can be.")
    return listed


def read_partitions(path: str) -> list[TopicPartition]:
    """Read `{"partitions":[{"topic":"foo","partition":1}]}`. Raises CommandError, also for one that is named twice."""
    listed = entries(path, read_json(path), "partitions", topic=str, partition=int)
    partitions = [TopicPartition(item["topic"], item["partition"]) for item in listed]
    twice = (
        sorted({item for item in partitions if partitions.count(item) > 1})
        if len(partitions) != len(set(partitions))
        else []
    )
    if twice:
        raise CommandError(f"{path} contains duplicate topic partitions: {', '.join(map(str, twice))}")
    return partitions
