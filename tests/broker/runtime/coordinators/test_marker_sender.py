"""Markers of decided transactions reach every partition, whatever becomes of leaders, until the coordinator resigns."""

import asyncio
from types import SimpleNamespace
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import NO_BROKER, TopicPartition
from broker.coordinator.transaction.outcome import MarkersToWrite
from broker.protocol.codec import encode
from broker.protocol.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from broker.runtime.coordinators import request_sizes
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.metadata_cache import MetadataCache, PartitionMetadata, TopicMetadata
from broker.zookeeper.errors import ZooKeeperError
from tests.eventually import eventually
from tests.members import dialer
from tests.scripted_broker import ScriptedBroker

OURS, PEER = 1, 2
P0, P1, GONE = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("gone", 0)


class Leader:
    """Answers WriteTxnMarkers: for each partition the codes in `refusals` first, then NONE."""

    def __init__(self):
        self.requests = []
        self.refusals: dict[TopicPartition, list[ErrorCode]] = {}

    def answer(self, request) -> WriteTxnMarkersResponse:
        self.requests.append(request)
        return WriteTxnMarkersResponse(
            markers=[
                WritableTxnMarkerResult(
                    producer_id=marker.producer_id,
                    topics=[
                        WritableTxnMarkerTopicResult(
                            name=topic.name,
                            partitions=[
                                WritableTxnMarkerPartitionResult(
                                    partition_index=index, error_code=self._code(TopicPartition(topic.name, index))
                                )
                                for index in topic.partition_indexes
                            ],
                        )
                        for topic in marker.topics
                    ],
                )
                for marker in request.markers
            ]
        )

    def _code(self, partition: TopicPartition) -> ErrorCode:
        refusals = self.refusals.get(partition)
        return refusals.pop(0) if refusals else ErrorCode.NONE

    def marked_partitions(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic.name, index)
            for request in self.requests
            for marker in request.markers
            for topic in marker.topics
            for index in topic.partition_indexes
        ]


class World:
    def __init__(self):
        self.metadata = MetadataCache()
        self.metadata.topics["t"] = TopicMetadata("t", UUID(int=1))
        self.here, self.there = Leader(), Leader()
        self.addresses: dict[int, tuple[str, int]] = {}
        self.exists: bool | Exception = True
        self.written = []
        self.sender = MarkerSender(OURS, self.metadata, self.addresses.get, dialer(), self._partition_exists)
        self.sender.write_here = self.here.answer
        self.sender.on_written = lambda ending: self.written.append(ending.markers.transactional_id)
        self.shard = SimpleNamespace(partition=3, hosted=SimpleNamespace(partition=SimpleNamespace(leader_epoch=7)))

    async def _partition_exists(self, partition: TopicPartition) -> bool:
        if isinstance(self.exists, Exception):
            raise self.exists
        return self.exists

    def leader(self, partition: TopicPartition, leader: int) -> None:
        state = PartitionMetadata(leader, 0, (OURS, PEER), (OURS, PEER), ())
        self.metadata.topics[partition.topic].partitions[partition.partition] = state

    def send(self, *partitions: TopicPartition, transactional_id: str = "x", producer_id: int = 5) -> None:
        markers = MarkersToWrite(transactional_id, producer_id, 2, True, frozenset(partitions))
        self.sender.send(self.shard, markers)

    async def until_written(self, *transactional_ids: str) -> None:
        expected = list(transactional_ids or ("x",))
        await eventually(lambda: sorted(self.written) == expected, "all markers are written")


@pytest.fixture
async def world():
    world = World()
    async with ScriptedBroker(PEER, world.there.answer) as peer:
        world.peer = peer
        world.addresses[PEER] = ("127.0.0.1", peer.port)
        yield world
        world.sender.close()


async def test_each_leader_is_told_of_its_own_partitions(world):
    world.leader(P0, OURS)
    world.leader(P1, PEER)
    world.send(P0, P1)
    await world.until_written()
    assert (world.here.marked_partitions(), world.there.marked_partitions()) == ([P0], [P1])
    [marker] = world.there.requests[0].markers
    assert (marker.producer_id, marker.producer_epoch, marker.transaction_result) == (5, 2, True)
    assert len(world.sender) == 0


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.TRANSACTION_COORDINATOR_FENCED,
    ],
)
async def test_partition_that_refuses_is_asked_again_and_the_others_are_not(world, code):
    world.leader(P0, PEER)
    world.leader(P1, PEER)
    world.there.refusals[P1] = [code, code]
    world.send(P0, P1)
    await world.until_written()
    assert sorted(world.there.marked_partitions()) == [P0, P1, P1, P1]


async def test_next_try_goes_to_whoever_leads_by_then(world):
    world.leader(P0, PEER)
    world.there.refusals[P0] = [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 100
    world.send(P0)
    await eventually(lambda: world.there.marked_partitions(), "the old leader was asked")
    world.leader(P0, OURS)
    await world.until_written()
    assert world.here.marked_partitions() == [P0]


async def test_next_try_carries_the_epoch_the_coordinator_leads_in_by_then(world):
    world.leader(P0, PEER)
    world.there.refusals[P0] = [ErrorCode.TRANSACTION_COORDINATOR_FENCED]
    world.send(P0)
    await eventually(lambda: world.there.marked_partitions(), "the leader was asked")
    world.shard.hosted.partition.leader_epoch = 8
    await world.until_written()
    assert [request.markers[0].coordinator_epoch for request in world.there.requests] == [7, 8]


async def test_partition_without_a_leader_waits_for_one(world):
    world.leader(P0, -1)
    world.send(P0)
    await asyncio.sleep(0)
    assert world.written == []
    world.leader(P0, PEER)
    await world.until_written()


async def test_broker_that_cannot_be_reached_is_tried_until_it_can(world):
    world.leader(P0, PEER)
    port = world.addresses.pop(PEER)
    world.send(P0)
    world.send(P0, transactional_id="y", producer_id=6)
    await asyncio.sleep(0)
    world.addresses[PEER] = port
    await world.until_written("x", "y")


async def test_connection_that_breaks_is_made_anew(world):
    world.leader(P0, PEER)
    world.send(P0)
    await world.until_written()
    world.peer.drop_connections()
    world.send(P0, transactional_id="y", producer_id=6)
    await world.until_written("x", "y")
    assert world.peer.connections == 2


async def test_what_waits_for_one_broker_goes_in_one_request(world):
    world.leader(P0, PEER)
    for number in range(20):
        world.send(P0, transactional_id=f"x{number:02}", producer_id=number)
    await world.until_written(*[f"x{number:02}" for number in range(20)])
    assert [len(request.markers) for request in world.there.requests] == [20]


async def test_deleted_topic_needs_no_marker(world):
    world.leader(P0, PEER)
    world.exists = False
    world.send(P0, GONE)
    await world.until_written()
    assert world.there.marked_partitions() == [P0]


@pytest.mark.parametrize("exists", [True, ZooKeeperError("away")])
async def test_topic_the_metadata_does_not_show_yet_is_waited_for(world, exists):
    world.exists = exists
    world.send(P0)
    await eventually(lambda: world.sender._again, "it was looked for")
    assert world.written == []
    world.leader(P0, PEER)
    await world.until_written()


async def test_nothing_is_sent_for_a_coordinator_that_resigned(world):
    world.leader(P0, PEER)
    world.there.refusals[P0] = [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 100
    world.send(P0)
    ended = world.sender.ended("x")
    await eventually(lambda: world.there.marked_partitions(), "the leader was asked")
    world.sender.forget(world.shard.partition)
    assert ended.done()  # who waits for the end of the transaction asks again, and hears NOT_COORDINATOR
    count_before = len(world.there.marked_partitions())
    world.leader(P1, PEER)
    world.send(P1, transactional_id="y", producer_id=6)
    await world.until_written("y")
    assert [item for item in world.there.marked_partitions()[count_before:] if item == P0] == []


async def test_who_waits_for_the_end_is_told_after_the_coordinator(world):
    world.leader(P0, OURS)
    world.send(P0)
    ended = world.sender.ended("x")
    assert not ended.done()
    await ended
    assert world.written == ["x"]
    assert world.sender.ended("x") is None


async def test_who_gives_up_waiting_for_the_end_is_not_remembered(world):
    """A partition may have no leader for days, while the producer asks five times a second."""
    world.leader(P0, NO_BROKER)
    world.send(P0)
    for _ in range(50):
        world.sender.ended("x").set_result(None)
        world.sender.ended("x").cancel()
    still_waits = world.sender.ended("x")
    await asyncio.sleep(0)
    assert list(world.sender._waiting["x"]) == [still_waits]
    world.leader(P0, PEER)
    await asyncio.wait_for(still_waits, 10)


async def test_thousands_that_wait_for_one_broker_all_have_their_turn(world):
    world.leader(P0, PEER)
    names = [f"x{number:04}" for number in range(2_500)]
    for number, name in enumerate(names):
        world.send(P0, transactional_id=name, producer_id=number)
    for _ in range(2):  # given up, and led again, before anything was sent
        world.sender.forget(world.shard.partition)
        for number, name in enumerate(names):
            world.send(P0, transactional_id=name, producer_id=number)
    await world.until_written(*names)
    assert max(len(request.markers) for request in world.there.requests) == 1_000
    assert len(world.there.marked_partitions()) == 2_500


LONG = [TopicPartition(f"{number:0249d}", 0) for number in range(200)]


async def test_request_for_transactions_of_many_partitions_stays_one_that_a_broker_takes(world):
    """Which closes the connection for one that is too long: the same transactions would be sent together again."""
    for partition in LONG:
        world.metadata.topics[partition.topic] = TopicMetadata(partition.topic, UUID(int=1))
        world.leader(partition, PEER)
    names = [f"x{number:02}" for number in range(25)]
    for number, name in enumerate(names):
        world.send(*LONG, transactional_id=name, producer_id=number)
    await world.until_written(*names)
    sizes = [len(encode(request, 1)) for request in world.there.requests]
    assert 900_000 < max(sizes) <= 1024 * 1024
    assert len(world.there.marked_partitions()) == 25 * len(LONG)


async def test_transaction_that_fills_a_request_goes_alone(world, monkeypatch):
    monkeypatch.setattr(request_sizes, "SHARED_REQUEST_BYTES_MAX", 1)
    world.leader(P0, PEER)
    world.leader(P1, OURS)
    for number, name in enumerate("xyz"):
        world.send(P0, P1, transactional_id=name, producer_id=number)
    await world.until_written(*"xyz")
    assert [len(request.markers) for request in world.here.requests + world.there.requests] == [1] * 6


async def test_own_partition_whose_log_fails_is_tried_again(world):
    failures = [OSError("disk")]

    def write(request):
        if failures:
            raise failures.pop()
        return world.here.answer(request)

    world.sender.write_here = write
    world.leader(P0, OURS)
    world.send(P0)
    await world.until_written()
    assert world.here.marked_partitions() == [P0]


async def test_refusal_of_a_later_version_is_tried_again(world):
    world.leader(P0, PEER)
    world.there.refusals[P0] = [999]
    world.send(P0)
    await world.until_written()
    assert world.there.marked_partitions() == [P0, P0]


async def test_producer_that_went_on_with_a_later_epoch_holds_up_nothing(world):
    world.leader(P0, PEER)
    world.there.refusals[P0] = [ErrorCode.INVALID_PRODUCER_EPOCH]
    world.send(P0)
    await world.until_written()
