"""Which brokers ever held what, by the files of their logs: told of every append, whoever it was for.

What is acknowledged, shown to a reader or acted on by a marker must be held by as many replicas as min.insync.replicas
asks for. That can be judged without believing any broker, at the moment it happens, and without a loss that would show
it: a replica that has held a record once had it when it counted. Where a topic asks for an fsync before the answer
(flush.messages), only what the disk was made to keep counts as held when it is acknowledged.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from broker.common.errors import ApiError
from broker.common.types import TopicPartition
from broker.coordinator.group.records import GroupKey, OffsetKey, decode_group_value, decode_offset_value
from broker.coordinator.group.records import decode_key as decode_group_key
from broker.coordinator.transaction.records import decode_key as decode_transaction_key
from broker.coordinator.transaction.records import decode_value as decode_transaction_value
from broker.log.log import Log
from broker.records.batch import iterate_headers
from broker.records.control import MarkerType, parse_marker
from broker.runtime.topics.internal_topics import OFFSETS_TOPIC, TRANSACTION_TOPIC
from tests.simulation.decoded import records_of
from tests.simulation.history import History
from tests.simulation.topics import FLUSHED

#: What a record of an internal topic says, so that its answer can be told: ("commit", group, metadata),
#: ("generation", group, number), ("producer", transactional id, producer id, epoch),
#: ("ends", producer id, epoch, is commit, when it began).
Fact = tuple


class Holdings:
    """`needed(topic)`: its effective min.insync.replicas; `isr_of(partition)`: names of brokers."""

    def __init__(
        self,
        history: History,
        now_us: Callable[[], int],
        needed: Callable[[str], int],
        isr_of: Callable[[TopicPartition], set[str]],
    ):
        self._history = history
        self._now_us = now_us
        self._needed = needed
        self._isr_of = isr_of
        #: Partition by its directory's name → broker → leader epoch → log end it ever had in it.
        self._ends: dict[str, dict[str, dict[int, int]]] = {}
        #: The same of what was fsynced, where that is asked for.
        self._synced_ends: dict[str, dict[str, dict[int, int]]] = {}
        self._facts: dict[Fact, set[str]] = {}
        #: Of (producer id, epoch, is commit): when a decision was first written anywhere, with the fact, in that order.
        self._decisions: dict[tuple[int, int, bool], list[tuple[int, Fact]]] = {}
        #: What was found once is not said again for everything behind it.
        self._reported: set[tuple[str, str]] = set()

    # -- what was appended

    def appended(self, log: Log, before: int, batches: memoryview, *, by_leader: bool) -> None:
        """`log` grew from offset `before` to its end; what of `batches` lies below was there already."""
        broker, name = _broker_and_partition(log.directory)
        ends = self._ends.setdefault(name, {}).setdefault(broker, {})
        topic = name.rpartition("-")[0]
        for at, header in iterate_headers(batches):
            if not before <= header.base_offset < log.log_end_offset:
                continue
            epoch = header.partition_leader_epoch
            ends[epoch] = max(ends.get(epoch, 0), header.next_offset)
            batch = batches[at : at + header.size_bytes]
            if header.is_control:
                if by_leader:
                    self._judge_marker(broker, name, header, batch)
            elif topic in (OFFSETS_TOPIC, TRANSACTION_TOPIC):
                for record in records_of(batch):
                    self._learn(broker, topic, record.key, record.value)

    def synced(self, path: Path, content: bytes) -> None:
        """A broker has had `content` of that file written to its disk for good."""
        if path.suffix != ".log" or path.parent.name.rpartition("-")[0] != FLUSHED:
            return
        broker, name = _broker_and_partition(path.parent)
        ends = self._synced_ends.setdefault(name, {}).setdefault(broker, {})
        with suppress(ApiError):  # a power cut has left something else behind them
            for _, header in iterate_headers(memoryview(content)):
                epoch = header.partition_leader_epoch
                ends[epoch] = max(ends.get(epoch, 0), header.next_offset)

    def _learn(self, broker: str, topic: str, key: bytes, value: bytes | None) -> None:
        if value is None:
            return
        for fact in _facts(topic, key, value):
            holders = self._facts.setdefault(fact, set())
            if not holders and fact[0] == "ends":
                self._decisions.setdefault(fact[1:4], []).append((self._now_us(), fact))
            holders.add(broker)

    def _judge_marker(self, broker: str, partition: str, header, batch: memoryview) -> None:
        marker = parse_marker(batch)
        if marker is None:
            return
        decisions = self._decisions.get((header.producer_id, header.producer_epoch, marker.type is MarkerType.COMMIT))
        holders = self._facts[decisions[-1][1]] if decisions else set()
        what = f"{broker} writes {marker.type.name} of producer {header.producer_id} into {partition}"
        self._judge(TRANSACTION_TOPIC, holders, "marker", what)

    # -- what was said and shown

    def judge_record(self, topic: str, partition: int, leader_epoch: int, offset: int, what: str) -> None:
        """The record at `offset`, written in `leader_epoch` (-1 if unknown), was acknowledged or shown."""
        ends = self._ends.get(f"{topic}-{partition}", {})
        holders = {broker for broker, by_epoch in ends.items() if _reached(by_epoch, leader_epoch, offset)}
        self._judge(topic, holders, f"{topic}-{partition}", f"{what}: offset {offset} of {topic}-{partition}")

    def judge_safe(self, topic: str, partition: int, offset: int, what: str, *, acks: int) -> None:
        """The record at `offset` was acknowledged to who asked for that of the leader (1), or of the ISR (-1)."""
        if topic != FLUSHED:
            return
        ends = self._synced_ends.get(f"{topic}-{partition}", {})
        holders = {broker for broker, by_epoch in ends.items() if _reached(by_epoch, -1, offset)}
        without = self._isr_of(TopicPartition(topic, partition)) - holders
        if without if acks == -1 else not holders:
            self._history.violate(f"not fsynced: {what}: offset {offset} is not on the disks of {sorted(without)}")

    def judge_fact(self, topic: str, fact: Fact, what: str) -> None:
        """`fact` stands in a record whose answer was a success."""
        self._judge(topic, self._facts.get(fact, set()), fact[0], f"{what}: {fact}")

    def judge_commit(self, producer_id: int, epoch: int, since_us: int, what: str) -> None:
        """A transaction that began after `since_us` was said to be committed."""
        decisions = [fact for at_us, fact in self._decisions.get((producer_id, epoch, True), ()) if at_us >= since_us]
        holders = max((self._facts[fact] for fact in decisions), key=len, default=set())
        self._judge(TRANSACTION_TOPIC, holders, "commit", what)

    def _judge(self, topic: str, holders: set[str], kind: str, what: str) -> None:
        if len(holders) < self._needed(topic) and (topic, kind) not in self._reported:
            self._reported.add((topic, kind))
            self._history.violate(
                f"below min ISR: {what} is held by {sorted(holders)} only, {topic} asks for {self._needed(topic)}"
            )


def _reached(by_epoch: dict[int, int], leader_epoch: int, offset: int) -> bool:
    """Who wrote past `offset` in that epoch or a later one had what the epoch's leader had there."""
    return any(epoch >= leader_epoch and end > offset for epoch, end in by_epoch.items())


def _broker_and_partition(directory: Path) -> tuple[str, str]:
    """…/broker-N/life-M/topic-partition"""
    *_, broker, _, name = os.fspath(directory).split("/")
    return broker, name


@lru_cache(4_096)
def _facts(topic: str, key: bytes, value: bytes) -> list[Fact]:
    """Asked for each replica."""
    return _offsets_facts(key, value) if topic == OFFSETS_TOPIC else _transaction_facts(key, value)


def _offsets_facts(key: bytes, value: bytes) -> list[Fact]:
    known = decode_group_key(key)
    if isinstance(known, OffsetKey):
        return [("commit", known.group_id, decode_offset_value(value).metadata)]
    if isinstance(known, GroupKey):
        return [("generation", known.group_id, decode_group_value(value).generation_id)]
    return []


def _transaction_facts(key: bytes, value: bytes) -> list[Fact]:
    transactional_id = decode_transaction_key(key)
    if transactional_id is None:
        return []
    known = decode_transaction_value(transactional_id, value)
    facts: list[Fact] = [("producer", transactional_id, known.producer_id, known.producer_epoch)]
    if known.state.label in ("PrepareCommit", "PrepareAbort"):
        is_commit = known.state.label == "PrepareCommit"
        facts.append(("ends", known.producer_id, known.producer_epoch, is_commit, known.started_ms))
    return facts
