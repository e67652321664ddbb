"""A mirror's status, in a compacted topic of the target, so that readers need one cluster only.

Topic `barnabas-mirror-status.internal`, one partition, JSON: key [flow, topic, partition], value see `MirrorStatus`, or
none: it is not copied any more. The partition WHOLE_TOPIC has what hinders all of a topic, or how its copy differs.
"""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from broker.common.types import TopicPartition
from broker.mirror.lane import Copied

if TYPE_CHECKING:
    from confluent_kafka import Producer

STATUS_TOPIC = "barnabas-mirror-status.internal"
WHOLE_TOPIC = -1
EVERY_S = 5.0
_ERROR_LENGTH_MAX = 500


class MirrorStatus(NamedTuple):
    """Mirror status of a partition. `lag`: records, or offsets without one, that are not copied yet; None when it is
    not known.

    `copied_until_ms`: timestamp of the last record copied, None before the first. `records`, `bytes` since the mirror
    has it; `skipped`: records that came from the target. `at_ms`: when this was said. `is_paused`: by who asked for it.
    """

    target: str
    next_offset: int
    lag: int | None
    copied_until_ms: int | None
    records: int
    bytes: int
    skipped: int
    error: str | None
    notice: str | None
    at_ms: int
    is_paused: bool = False


def status_of(
    copied: Copied, end: int | None, trouble: str | None, slowness: str | None, now_ms: int, *, is_paused: bool = False
) -> MirrorStatus:
    error = copied.error or trouble
    lag = None if end is None or copied.next_offset < 0 else max(end - copied.next_offset, 0)
    notice = slowness if slowness and lag != 0 else copied.notice
    return MirrorStatus(
        copied.target.topic, copied.next_offset, lag, copied.timestamp if copied.timestamp >= 0 else None,
        copied.records, copied.bytes, copied.skipped, error and error[:_ERROR_LENGTH_MAX], notice, now_ms,
        is_paused,
    )  # fmt: skip


def topic_status(target: str, error: str | None, notice: str | None, now_ms: int) -> MirrorStatus:
    """Return the status of a whole topic, without a lag for one that is not copied."""
    lag = None if error else 0
    return MirrorStatus(
        target, -1, lag, None, 0, 0, 0, error and error[:_ERROR_LENGTH_MAX], notice and notice[:_ERROR_LENGTH_MAX],
        now_ms,
    )  # fmt: skip


def written(flow: str, partition: TopicPartition, status: MirrorStatus | None) -> tuple[bytes, bytes | None]:
    return orjson.dumps([flow, *partition]), None if status is None else orjson.dumps(status._asdict())


def understood(key: bytes | None, value: bytes | None) -> tuple[str, TopicPartition, MirrorStatus | None] | None:
    try:
        flow, topic, partition = orjson.loads(key or b"")
        document: dict[str, Any] | None = None if value is None else orjson.loads(value)
        status = None if document is None else MirrorStatus(**document)
        return str(flow), TopicPartition(str(topic), int(partition)), status
    except (TypeError, ValueError):
        return None


class MirrorStatusWriter:
    """Status teller of one task; says what has changed, at most every five seconds, and all of it once a minute."""

    def __init__(self, flow: str, producer: "Producer"):
        self._flow, self._producer = flow, producer
        self._written: dict[TopicPartition, MirrorStatus] = {}
        self._at = 0.0

    def tell(
        self,
        copies: Mapping[TopicPartition, Copied],
        ends: Mapping[TopicPartition, int],
        trouble: str | None,
        slowness: str | None = None,
        *,
        is_paused: bool = False,
    ) -> None:
        self._producer.poll(0)
        if time.monotonic() < self._at:
            return
        self._at = time.monotonic() + EVERY_S
        now_ms = int(time.time() * 1000)
        for partition, copied in copies.items():
            status = status_of(copied, ends.get(partition), trouble, slowness, now_ms, is_paused=is_paused)
            before = self._written.get(partition)
            if before is None or before._replace(at_ms=0) != status._replace(at_ms=0) or now_ms - before.at_ms > 60_000:
                self._written[partition] = status
                key, value = written(self._flow, partition, status)
                try:
                    self._producer.produce(STATUS_TOPIC, value, key)
                except BufferError:
                    return
