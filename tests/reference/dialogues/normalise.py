"""What differs between any two brokers (ids, addresses, times, throttling), under names that both sides share."""

import re
import time
from typing import Any
from uuid import UUID

from tests.reference.dialogues.wire import uuid_text

_BOUNDS = re.compile(r"should be within \[-?\d+, -?\d+\]")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NOT_COMPARED = {"throttle_time_ms", "authorized_operations_mask", "preferred_read_replica_unused"}
_FIXED = {"cluster_id": "cluster", "log_dir": "directory"}
_ADDRESS = {"host": "host", "port": 1}
#: Numbers that brokers hand out, by the name of their field.
_HANDED_OUT = {"producer_id": "producer", "session_id": "session"}
#: What the disk has, which changes while others write to it.
_OF_THE_DISK = {"total_bytes", "usable_bytes"}
#: What an entry of a list is called.
_NAMES = ("name", "entity_type", "topic", "topic_name", "resource_name", "user", "group_id", "transactional_id",
          "entity", "partition_index", "resource_type", "pattern_type", "partition", "partition_id",
          "index", "producer_id", "key")  # fmt: skip
#: Their order says something.
_AS_IT_IS = {"records", "synonyms", "assignments", "replica_nodes"}
_NOW_WITHIN_MS = 3_600_000
#: The user whose quota a dialogue changes to see that what came before is in effect.
MARK = "settled"


class Names:
    """Aliases of one dialogue, in the order of their first appearance."""

    def __init__(self, unique: str):
        self._unique = unique
        self._aliases: dict[tuple[str, str], str] = {}

    def alias(self, kind: str, value: object) -> str:
        key = (kind, str(value))
        if key not in self._aliases:
            self._aliases[key] = f"{kind}-{1 + sum(known == kind for known, _ in self._aliases)}"
        return self._aliases[key]

    def uuid(self, text: str) -> str:
        return text if UUID(text).int == 0 else self.alias("uuid", text)

    def text(self, text: str) -> str:
        """Return a text whose unique part is `{n}` again, and whose UUIDs are aliases."""
        text = _BOUNDS.sub("should be within [from, to]", text)
        text = _UUID.sub(lambda match: self.uuid(match.group()), text.replace(self._unique, "{n}"))
        for kind, value in list(self._aliases):
            if kind == "uuid":
                text = text.replace(uuid_text(UUID(value).bytes), self._aliases[kind, value])
        return text


def normalised(node: Any, names: Names, key: str = "") -> Any:
    """Return the JSON of a response without what differs between any two brokers."""
    if isinstance(node, dict):
        node = {**node, **{name: value for name, value in _ADDRESS.items() if "port" in node and node.get(name)}}
        return {name: normalised(value, names, name) for name, value in node.items() if name not in _NOT_COMPARED}
    if isinstance(node, list) and key == "configs":
        by_name = {config["name"]: config for config in node if not config["name"].startswith("barnabas.")}
        return {
            name: normalised({part: value for part, value in config.items() if part != "name"}, names)
            for name, config in by_name.items()
        }
    if isinstance(node, list):
        parts = [normalised(element, names, key) for element in node if not _is_mark(element)]
        # By their aliases: the ids themselves, which brokers make up, have no order.
        return sorted(parts, key=lambda member: member.get("member_id", "")) if key == "members" else parts
    if key in _FIXED:
        return _FIXED[key] if node else node
    if isinstance(node, str):
        return names.text(node)
    if isinstance(node, int) and not isinstance(node, bool):
        if key in _OF_THE_DISK and node > 0:
            return "bytes"
        if key in _HANDED_OUT and node > 0:
            return names.alias(_HANDED_OUT[key], node)
        if abs(node - time.time() * 1000) < _NOW_WITHIN_MS:
            return "now"
    return node


def in_order(node: Any) -> Any:
    """Return a response with its lists sorted: most of Kafka's are in the order of a hash, or shuffled."""
    if isinstance(node, list):
        parts = [in_order(part) for part in node]
        return sorted(parts, key=_name_of) if parts and isinstance(parts[0], dict) else parts
    if not isinstance(node, dict):
        return node
    if node.get("topic") == "__consumer_offsets":
        return {**node, "partitions": "that of the group"}
    return {
        name: value if name in _AS_IT_IS else _numbers_in_order(name, in_order(value)) for name, value in node.items()
    }


def _numbers_in_order(name: str, value: Any) -> Any:
    """Return the partitions of a transaction sorted, which Kafka keeps in a set."""
    is_of_numbers = name == "partitions" and isinstance(value, list) and all(isinstance(part, int) for part in value)
    return sorted(value) if is_of_numbers else value


def _name_of(entry: dict) -> str:
    if not any(key in entry for key in _NAMES):
        return str(entry) if "principal" in entry else ""
    return " ".join(f"{entry[key]!s:>9}" for key in _NAMES if entry.get(key) is not None)


def _is_mark(node: Any) -> bool:
    return isinstance(node, dict) and any(
        isinstance(part, dict) and part.get("entity_name") == MARK for part in node.get("entity") or ()
    )
