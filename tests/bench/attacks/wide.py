"""Attacks that need a cluster with much in it: everything asked of thousands of topics and partitions that exist."""

import time
from collections.abc import Iterator

from broker.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from broker.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from broker.protocol.messages.elect_leaders import ElectLeadersRequest
from broker.protocol.messages.end_txn import EndTxnRequest
from broker.protocol.messages.find_coordinator import CoordinatorType
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from broker.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from broker.protocol.messages.metadata import MetadataRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from broker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from broker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from broker.records.builder import build_batch
from broker.records.record import Record
from tests.bench.attacks.aim import Aim, Line, have_topics, request
from tests.bench.attacks.fetches import fetch
from tests.bench.attacks.groups import coordinated
from tests.bench.raw import PRODUCE_VERSION

WIDE = ("wide-0", "wide-1")
PARTITIONS = 1_000
NARROW = tuple(f"narrow-{number}" for number in range(600))
_TRANSACTION_PARTITIONS = 1_000


def have_wide_topics(aim: Aim) -> None:
    """Two of thousands of partitions, and as many of one, all led by the broker."""
    have_topics(aim, *WIDE, partitions=PARTITIONS)
    have_topics(aim, *NARROW)
    line = Line(aim)
    while _partitions_led(line) < len(WIDE) * PARTITIONS + len(NARROW):
        time.sleep(0.2)


def _partitions_led(line: Line) -> int:
    topics = line.ask(MetadataRequest(topics=None, allow_auto_topic_creation=False), 7).topics
    ours = (topic for topic in topics if topic.name in WIDE or topic.name in NARROW)
    return sum(partition.leader_id >= 0 for topic in ours for partition in topic.partitions)


def questions(aim: Aim) -> Iterator[None]:
    """All there is, asked of every API that tells of it."""
    have_wide_topics(aim)
    line = Line(aim)
    requests = _questions()
    while True:
        for item in requests:
            line.send(item)
            line.take()
            yield
            time.sleep(0.01)


def _questions() -> list[bytes]:
    indexes = list(range(PARTITIONS))
    configs = [DescribeConfigsResource(resource_type=2, resource_name=item, configuration_keys=None) for item in NARROW]
    offsets = [
        ListOffsetsTopic(
            name=name, partitions=[ListOffsetsPartition(partition_index=index, timestamp=-1) for index in indexes]
        )
        for name in WIDE
    ]
    epochs = [
        OffsetForLeaderTopic(
            topic=name, partitions=[OffsetForLeaderPartition(partition=index, leader_epoch=0) for index in indexes]
        )
        for name in WIDE
    ]
    committed = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name in WIDE]
    producers = [TopicRequest(name=name, partition_indexes=indexes) for name in WIDE]
    return [
        request(MetadataRequest(topics=None, allow_auto_topic_creation=False), 12),
        request(DescribeConfigsRequest(resources=configs, include_synonyms=True, include_documentation=True), 4),
        request(ListOffsetsRequest(topics=offsets), 7),
        request(OffsetForLeaderEpochRequest(replica_id=-1, topics=epochs), 4),
        request(OffsetFetchRequest(group_id="nobody", topics=committed), 7),
        request(DescribeProducersRequest(topics=producers), 0),
        request(DescribeLogDirsRequest(topics=None), 4),
        request(ListPartitionReassignmentsRequest(topics=None), 0),
        fetch(WIDE[0], PARTITIONS, max_wait_ms=0, max_bytes=1_000_000),
        fetch(WIDE[0], PARTITIONS, max_wait_ms=100, min_bytes=100, max_bytes=1_000_000),
    ]


def orders(aim: Aim) -> Iterator[None]:
    """All leaders elected, all partitions moved to where they are, and the moves called off."""
    have_wide_topics(aim)
    line = Line(aim)
    while True:
        for replicas in ([1], None):
            partitions = [
                ReassignablePartition(partition_index=index, replicas=replicas) for index in range(PARTITIONS)
            ]
            topics = [ReassignableTopic(name=name, partitions=partitions) for name in WIDE]
            line.ask(AlterPartitionReassignmentsRequest(topics=topics, timeout_ms=10_000), 0)
            yield
        line.ask(ElectLeadersRequest(topic_partitions=None, timeout_ms=10_000), 2)
        yield
        time.sleep(0.05)


def transactions(aim: Aim) -> Iterator[None]:
    """One transaction over thousands of partitions, written to by one request, and ended."""
    have_wide_topics(aim)
    coordinated(aim, CoordinatorType.TRANSACTION)
    line = Line(aim)
    while True:
        made = line.ask(InitProducerIdRequest(transactional_id="wide", transaction_timeout_ms=60_000), 1)
        if made is None or made.error_code:
            time.sleep(0.1)
            yield
            continue
        indexes, ids = list(range(_TRANSACTION_PARTITIONS)), (made.producer_id, made.producer_epoch)
        topics = [AddPartitionsToTxnTopic(name=WIDE[0], partitions=indexes)]
        _until_done(line, _adding(topics, ids), 0)
        yield
        line.send(_produced(indexes, ids))
        line.take()
        yield
        ending = EndTxnRequest(transactional_id="wide", producer_id=ids[0], producer_epoch=ids[1], committed=True)
        _until_done(line, ending, 0)
        yield


def _until_done(line: Line, message, version: int) -> None:
    """Twice, in case the last transaction is still being ended."""
    for _ in range(2):
        line.ask(message, version)


def _adding(topics: list[AddPartitionsToTxnTopic], ids: tuple[int, int]) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="wide",
        v3_and_below_producer_id=ids[0],
        v3_and_below_producer_epoch=ids[1],
        v3_and_below_topics=topics,
    )


def _produced(indexes: list[int], ids: tuple[int, int]) -> bytes:
    batch = build_batch(
        [Record(0, 1_700_000_000_000, b"k", b"v")],
        producer_id=ids[0],
        producer_epoch=ids[1],
        base_sequence=0,
        is_transactional=True,
    )
    data = [PartitionProduceData(index=index, records=batch) for index in indexes]
    topics = [TopicProduceData(name=WIDE[0], partition_data=data)]
    produced = ProduceRequest(transactional_id="wide", acks=1, timeout_ms=10_000, topic_data=topics)
    return request(produced, PRODUCE_VERSION)


def offsets_of_many(aim: Aim) -> Iterator[None]:
    """One group that has committed 2,000 offsets, all of them asked for."""
    coordinated(aim, CoordinatorType.GROUP)
    have_wide_topics(aim)
    line = Line(aim)
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[
                OffsetCommitRequestPartition(partition_index=at, committed_offset=1, committed_metadata="")
                for at in range(PARTITIONS)
            ],
        )
        for name in WIDE
    ]
    for topic in topics:
        line.ask(OffsetCommitRequest(group_id="of-many", topics=[topic]), 7)
    while True:
        line.send(request(OffsetFetchRequest(group_id="of-many", topics=None), 7))
        line.take()
        yield
        time.sleep(0.02)


ATTACKS = {
    "everything told of 2,600 partitions": questions,
    "2,000 partitions elected and moved": orders,
    "transactions over 1,000 partitions": transactions,
    "all offsets of a group": offsets_of_many,
}
