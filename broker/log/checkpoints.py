"""Kafka's small text files: offset checkpoints, `meta.properties`, `partition.metadata`.

    offset checkpoint     "0", the number of entries, then a line "topic partition offset" each
    meta.properties       version=0, broker.id, cluster.id, one per log directory
    partition.metadata    "version: 0" and "topic_id: …" (base64url), one per partition directory

All are replaced whole and fsynced, so a malformed one was not left by a crash: StartupError says which it is.
"""

import re
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path
from uuid import UUID

from broker.common.errors import StartupError
from broker.common.java.numbers import parse_integer
from broker.common.types import NO_TOPIC_ID, TopicPartition
from broker.log.files import replace_file

RECOVERY_POINT_CHECKPOINT = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT = "log-start-offset-checkpoint"
REPLICATION_OFFSET_CHECKPOINT = "replication-offset-checkpoint"
META_PROPERTIES = "meta.properties"
PARTITION_METADATA = "partition.metadata"

_VERSION = "0"


def write_offset_checkpoint(path: Path, offsets: Mapping[TopicPartition, int]) -> None:
    lines = [_VERSION, str(len(offsets))]
    lines += [f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())]
    replace_file(path, ("\n".join(lines) + "\n").encode())


def read_offset_checkpoint(path: Path) -> dict[TopicPartition, int]:
    """Empty if there is no file. Raises StartupError if it is malformed."""
    text = _read(path)
    if text is None:
        return {}
    try:
        version, count, *rows = lines_of(text)
        offsets = dict(_parse_row(row) for row in rows)
        if version != _VERSION or parse_integer(count, 32) != len(rows) or not text.endswith("\n"):
            raise ValueError
    except ValueError:
        raise StartupError(f"The checkpoint {path} is malformed: restore it or remove it.") from None
    return offsets


def lines_of(text: str) -> list[str]:
    """Return the lines of a checkpoint as Java reads them, for which nothing else ends a line."""
    lines = re.split("\r\n|[\r\n]", text)
    return lines if lines[-1] else lines[:-1]


def parts_of(row: str) -> list[str]:
    """Return what blanks divide; one or several, as in Kafka."""
    return re.split(r"\s+", row, flags=re.ASCII)


def _parse_row(row: str) -> tuple[TopicPartition, int]:
    topic, partition, offset = parts_of(row)
    return TopicPartition(topic, parse_integer(partition, 32)), parse_integer(offset, 64)


def write_meta_properties(path: Path, properties: Mapping[str, str]) -> None:
    """Write meta.properties; `version` is added, and unknown keys stay as they are."""
    lines = [f"{key}={value}" for key, value in {"version": _VERSION, **properties}.items()]
    replace_file(path, ("\n".join(lines) + "\n").encode())


def read_meta_properties(path: Path) -> dict[str, str]:
    """Empty if there is no file. Raises StartupError if it is malformed or of another version (KRaft's is 1)."""
    text = _read(path)
    if text is None:
        return {}
    rows = [row.strip() for row in text.splitlines()]
    pairs = [row.partition("=") for row in rows if row and not row.startswith(("#", "!"))]
    properties = {key.strip(): value.strip() for key, _, value in pairs}
    if not all(separator for _, separator, _ in pairs) or properties.pop("version", None) != _VERSION:
        raise StartupError(
            f"{path} is not a version 0 file of a broker: is the directory in use by something else? If it is this "
            "broker's, restore that file, or remove it."
        )
    return properties


def write_partition_metadata(path: Path, topic_id: UUID) -> None:
    replace_file(path, f"version: {_VERSION}\ntopic_id: {encode_topic_id(topic_id)}\n".encode())


def read_partition_metadata(path: Path) -> UUID | None:
    """Return the topic id, None if there is no file or it notes that the id is unknown. Raises StartupError if
    malformed.
    """
    text = _read(path)
    if text is None:
        return None
    fields = dict(row.split(": ", 1) for row in text.splitlines() if ": " in row)
    try:
        if fields["version"] != _VERSION:
            raise ValueError
        topic_id = decode_topic_id(fields["topic_id"])
    except (KeyError, ValueError):
        raise StartupError(f"{path} is malformed: restore it from another replica or remove the partition.") from None
    return None if topic_id == NO_TOPIC_ID else topic_id


def encode_topic_id(topic_id: UUID) -> str:
    """Encode a topic id as 22 characters of base64url, as Kafka prints ids."""
    return urlsafe_b64encode(topic_id.bytes).rstrip(b"=").decode()


def decode_topic_id(text: str) -> UUID:
    """Raises ValueError."""
    return UUID(bytes=b64decode(text + "==", altchars=b"-_", validate=True))


def _read(path: Path) -> str | None:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise StartupError(f"{path} is malformed: it is not text.") from None
