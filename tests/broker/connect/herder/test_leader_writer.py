"""Of the workers that take themselves for the leader of a group, the last one to begin writes the configurations."""

import json
import uuid

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from broker.connect.herder.errors import NotGroupLeader
from broker.connect.herder.fencing import Fencing
from broker.connect.herder.herder import Herder
from broker.connect.settings import DISTRIBUTED, read_settings
from broker.connect.storage import records
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.leader_writer import LeaderWriter
from broker.connect.storage.logs import MemoryLog, StorageError
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.states import States
from tests.broker.connect.mock_cluster import all_records

PROPS = {
    "key.converter": "JsonConverter", "value.converter": "JsonConverter", "group.id": "g", "config.storage.topic": "c",
    "offset.storage.topic": "o", "status.storage.topic": "s",
}  # fmt: skip


@pytest.fixture
def topic(cluster):
    name = f"configs-{uuid.uuid4().hex[:8]}"
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    client.create_topics([NewTopic(name, 1, 1)])[name].result(30)
    return name


@pytest.fixture
def writer_of(cluster, topic):
    def make() -> LeaderWriter:
        return LeaderWriter(topic, {"bootstrap.servers": cluster.bootstrap_servers}, f"leaders-of-{topic}")

    return make


def leads() -> None:
    """It is the leader, for all it knows."""


class LedUntilAsked:
    """Whether a worker that is suspended behind its look leads: as often as `times` it does."""

    def __init__(self, times: int):
        self.times = times

    def __call__(self) -> None:
        self.times -= 1
        if self.times < 0:
            raise NotGroupLeader("http://next/")


def one(number: int) -> list:
    return [records.connector_record("orders", {"number": str(number)})]


def numbers(cluster, topic) -> list[int]:
    records = all_records(cluster.bootstrap_servers, topic)
    return [int(json.loads(record.value())["properties"]["number"]) for record in records]


def test_what_an_earlier_leader_still_had_to_write_is_not_written_behind_the_next_leader_s(cluster, topic, writer_of):
    earlier, later = writer_of(), writer_of()
    earlier.put(one(1), leads)
    later.put(one(2), leads)
    with pytest.raises(NotGroupLeader):
        earlier.put(one(3), LedUntilAsked(1))
    later.put(one(4), leads)
    assert numbers(cluster, topic) == [1, 2, 4]


def test_a_worker_that_is_no_leader_once_it_has_claimed_writes_nothing(cluster, topic, writer_of):
    with pytest.raises(NotGroupLeader):
        writer_of().put(one(1), LedUntilAsked(0))
    writer_of().put(one(2), leads)
    assert numbers(cluster, topic) == [2]


def test_a_leader_that_was_fenced_by_mistake_claims_again_and_writes(cluster, topic, writer_of):
    leader, mistaken = writer_of(), writer_of()
    leader.put(one(1), leads)
    mistaken.put(one(2), leads)
    leader.put([*one(3), *one(4)], leads)
    assert numbers(cluster, topic) == [1, 2, 3, 4]


def test_a_record_that_is_too_large_is_an_error_and_the_next_one_is_written(cluster, topic, writer_of):
    writer = writer_of()
    with pytest.raises(StorageError, match="were not written"):
        writer.put([*one(1), records.connector_record("large", {"x": "x" * 3_000_000})], leads)
    writer.put(one(2), leads)
    assert numbers(cluster, topic) == [2]


def test_what_only_the_leader_writes_is_written_so_and_what_every_worker_writes_is_not():
    configurations = Configurations()
    herder = Herder(read_settings(PROPS, DISTRIBUTED), "w:1", configurations, States(), StoredOffsets())
    herder.config_log, herder.state_log = MemoryLog(herder.on_config), MemoryLog(herder.states.apply)
    by_leader: list[bytes] = []

    class Writer:
        def put(self, written, require_leader):
            require_leader()
            by_leader.extend(key for key, _ in written)
            herder.config_log.put(written)

    herder.leader_writer = Writer()
    herder.start(())
    try:
        herder.put_config("orders", {"connector.class": "FileStreamSource"}, target=None, may_exist=False)
        herder.put_tasks("orders", [{"n": "1"}]).result(10)
        Fencing(herder, lambda _body: {}, None).round("orders")
        herder.set_target("orders", "PAUSED")
        herder.stop_connector("orders")
        herder.delete("orders")
    finally:
        herder.stop()
    assert by_leader == [
        b"connector-orders",
        b"task-orders-0", b"commit-orders",
        b"tasks-fencing-orders",
        b"commit-orders", b"target-state-orders",
        b"connector-orders", b"target-state-orders",
    ]  # fmt: skip
