"""Partitions on the move: the cluster in memory and three real brokers say the same."""

import uuid
from dataclasses import dataclass

import pytest
from confluent_kafka import Producer

from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.moves.interface import RATE_KEYS, REPLICA_KEYS, Throttles
from tests.barnabas_cluster import await_true
from tests.conformance.gateway.real import kafka_gateway
from tests.fakes.gateway import FakeGateway

SLOW = "1000"


@dataclass
class Stage:
    """A gateway to three brokers; `slow_down` keeps what begins next on the move, `let_go` lets it arrive."""

    gateway: FakeGateway | KafkaGateway
    producer: Producer | None = None

    def slow_down(self, topic: str) -> None:
        rates, replicas = dict.fromkeys(RATE_KEYS, SLOW), dict.fromkeys(REPLICA_KEYS, "*")
        self.gateway.moves.set_throttles(Throttles(dict.fromkeys((1, 2, 3), rates), {topic: replicas}))

    def let_go(self, topic: str) -> None:
        if isinstance(self.gateway, FakeGateway):
            self.gateway.moves.arrive()
        rates, replicas = dict.fromkeys(RATE_KEYS), dict.fromkeys(REPLICA_KEYS)
        self.gateway.moves.set_throttles(Throttles(dict.fromkeys((1, 2, 3), rates), {topic: replicas}))

    def produce(self, topic: str, record_count: int) -> None:
        if isinstance(self.gateway, FakeGateway):
            self.gateway.append(topic, 0, record_count)
            return
        for _ in range(record_count):
            self.producer.produce(topic, b"x" * 4_000, partition=0)
        assert self.producer.flush(20) == 0


@pytest.fixture(params=["fake", "real"])
def stage(request):
    if request.param == "fake":
        yield Stage(FakeGateway())
        return
    cluster = request.getfixturevalue("three_brokers")
    servers = cluster.bootstrap_servers
    real = kafka_gateway(cluster)
    yield Stage(real, Producer({"bootstrap.servers": servers, "batch.num.messages": 1}))
    real.close()


@pytest.fixture
def topic(stage):
    """One partition of one replica, which holds records."""
    name = f"conformance-{uuid.uuid4().hex[:12]}"
    stage.gateway.create_topic(name, 1, 1)
    await_true(lambda: _is_led(stage.gateway, name), "the new topic has a leader")
    stage.produce(name, 20)
    return name


def _is_led(gateway, name: str) -> bool:
    return any(t.name == name and t.partitions[0].next_offset is not None for t in gateway.describe_topics())


def replicas(stage, topic: str) -> tuple[int, ...]:
    return stage.gateway.moves.assignments([topic])[topic, 0]


def another(stage, topic: str) -> int:
    (held_by,) = replicas(stage, topic)
    return held_by % 3 + 1


def test_a_moved_partition_ends_on_its_target(stage, topic):
    target = another(stage, topic)

    assert stage.gateway.moves.alter({(topic, 0): (target,)}) == {}
    if isinstance(stage.gateway, FakeGateway):
        stage.gateway.moves.arrive()
    await_true(lambda: replicas(stage, topic) == (target,), "the partition is on its target alone")
    await_true(lambda: stage.gateway.moves.under_way() == {}, "nothing is on the move")


def test_a_move_says_who_comes_and_who_goes_and_what_is_copied(stage, topic):
    (origin,), target = replicas(stage, topic), another(stage, topic)
    stage.slow_down(topic)
    stage.gateway.moves.alter({(topic, 0): (target,)})
    await_true(lambda: (topic, 0) in stage.gateway.moves.under_way(), "the move is listed")
    move = stage.gateway.moves.under_way()[topic, 0]

    assert (move.adding, move.removing) == ((target,), (origin,))
    assert (move.target, move.origin) == ((target,), (origin,))
    await_true(lambda: target in stage.gateway.moves.bytes_held([(topic, 0)])[topic, 0], "the copy has a size")
    held = stage.gateway.moves.bytes_held([(topic, 0)])[topic, 0]
    assert held[origin] > held[target]
    stage.let_go(topic)
    await_true(lambda: replicas(stage, topic) == (target,), "the partition is on its target")


def test_a_move_called_off_leaves_the_partition_where_it_was(stage, topic):
    origin, target = replicas(stage, topic), another(stage, topic)
    stage.slow_down(topic)
    stage.gateway.moves.alter({(topic, 0): (target,)})
    await_true(lambda: (topic, 0) in stage.gateway.moves.under_way(), "the move is listed")

    assert stage.gateway.moves.alter({(topic, 0): None}) == {}
    await_true(lambda: replicas(stage, topic) == origin, "the partition is where it was")
    await_true(lambda: stage.gateway.moves.under_way() == {}, "nothing is on the move")
    stage.let_go(topic)


def test_each_partition_is_refused_on_its_own(stage, topic):
    target = another(stage, topic)
    wanted = {(topic, 0): (target,), (topic, 7): (1,), ("no-such-topic", 0): (1,)}
    refused = stage.gateway.moves.alter(wanted)

    assert refused.keys() == {(topic, 7), ("no-such-topic", 0)}
    assert all(refused.values())


@pytest.mark.parametrize("target", [(), (1, 1), (99,)])
def test_a_target_that_cannot_be_is_refused(stage, topic, target):
    assert stage.gateway.moves.alter({(topic, 0): target}).keys() == {(topic, 0)}


def test_calling_off_what_does_not_move_is_refused(stage, topic):
    assert stage.gateway.moves.alter({(topic, 0): None}).keys() == {(topic, 0)}


def test_ids_tell_a_topic_from_no_topic(stage, topic):
    ids = stage.gateway.moves.topic_ids([topic, "no-such-topic"])
    assert ids.keys() == {topic}
    assert ids[topic]


def test_assignments_of_an_unknown_topic_are_left_out(stage, topic):
    assert stage.gateway.moves.assignments([topic, "no-such-topic"]).keys() == {(topic, 0)}


def test_throttles_are_set_read_and_taken_away(stage, topic):
    moves = stage.gateway.moves
    rates = {RATE_KEYS[0]: "5000000", RATE_KEYS[1]: "6000000"}
    lists = {REPLICA_KEYS[0]: "0:1", REPLICA_KEYS[1]: "0:2"}
    moves.set_throttles(Throttles({2: rates}, {topic: lists}))

    await_true(lambda: moves.throttles([2], [topic]) == Throttles({2: rates}, {topic: lists}), "the values are set")
    moves.set_throttles(Throttles({2: dict.fromkeys(RATE_KEYS)}, {topic: dict.fromkeys(REPLICA_KEYS)}))
    nothing = Throttles({2: dict.fromkeys(RATE_KEYS)}, {topic: dict.fromkeys(REPLICA_KEYS)})
    await_true(lambda: moves.throttles([2], [topic]) == nothing, "the values are gone")


def test_partitions_are_added_and_never_taken_away(stage, topic):
    stage.gateway.add_partitions(topic, 3)
    await_true(lambda: len(stage.gateway.moves.assignments([topic])) == 3, "the topic has three partitions")

    with pytest.raises(RefusedError) as refused:
        stage.gateway.add_partitions(topic, 2)
    assert refused.value.code == "INVALID_PARTITIONS"


def test_partitions_of_an_unknown_topic_are_refused(stage):
    with pytest.raises(RefusedError) as refused:
        stage.gateway.add_partitions("no-such-topic", 3)
    assert refused.value.code == "UNKNOWN_TOPIC_OR_PARTITION"
