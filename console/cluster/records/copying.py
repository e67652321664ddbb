"""A record appended once more, to its topic or another, or a tombstone in its place: as a plan. Pure."""

from dataclasses import dataclass
from hashlib import sha256

from console.kit.gateway.records.interface import Headers, RecordView
from console.kit.plans.plan import Plan, PlanLine

COPY, TOMBSTONE = "copy record", "produce tombstone"


@dataclass(frozen=True, slots=True)
class CopyTarget:
    """The target of a copy. `partition` None: as the key says."""

    topic: str
    partition: int | None
    is_compacted: bool


def copy_plan(source: str, record: RecordView, target: CopyTarget, *, is_tombstone: bool) -> Plan:
    """Plan copying a record, without its content: plans are in the audit, and records may have secrets."""
    place = f"partition {record.partition}, offset {record.offset} of {source}"
    what = f"a tombstone for the key of {place}" if is_tombstone else f"as {place}"
    where = "as the key says" if target.partition is None else str(target.partition)
    lines = [
        PlanLine("record", None, what),
        PlanLine("partition", None, where),
        PlanLine("key_bytes", None, _size(record.key)),
    ]
    if not is_tombstone:
        lines += [
            PlanLine("value_bytes", None, _size(record.value)),
            PlanLine("headers", None, len(record.headers)),
        ]
    return Plan(
        action=TOMBSTONE if is_tombstone else COPY,
        object_type="topic",
        object_name=target.topic,
        lines=tuple(lines),
        read=(place, print_of(record.key, record.value, record.headers), str(target.is_compacted)),
        touches=_touches(target, is_tombstone=is_tombstone),
        losses=_losses(target, record, is_tombstone=is_tombstone),
        safe_because="A record is appended; what is in the topic stays.",
        obstacle=_NO_KEY if is_tombstone and record.key is None else "",
    )


_NO_KEY = "The record has no key: a tombstone would remove nothing."


def _touches(target: CopyTarget, *, is_tombstone: bool) -> tuple[str, ...]:
    sentences = ["It is appended with the present time; every consumer of the topic receives it."]
    if is_tombstone and not target.is_compacted:
        sentences.append("The topic is not compacted: nothing is removed, readers see a record without a value.")
    return tuple(sentences)


def _losses(target: CopyTarget, record: RecordView, *, is_tombstone: bool) -> tuple[str, ...]:
    if not target.is_compacted or record.key is None:
        return ()
    if not is_tombstone:
        return ("It becomes the newest record of its key: compaction then removes every earlier one for good.",)
    return ("Compaction then removes every earlier record of this key for good, and later the tombstone.",)


def _size(data: bytes | None) -> object:
    return "null" if data is None else len(data)


def print_of(key: bytes | None, value: bytes | None, headers: Headers) -> str:
    """Return a fingerprint, so that exactly this record is confirmed, even if its offset has another one by then."""
    digest = sha256()
    for part in (
        key,
        value,
        *(piece for name, text in headers for piece in (name.encode(), text)),
    ):
        digest.update(b"-" if part is None else b"+%d:" % len(part) + part)
    return digest.hexdigest()
