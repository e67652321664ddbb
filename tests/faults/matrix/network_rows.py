"""Brokers that are all alive and do not hear each other, or ZooKeeper, or only sometimes; packets are really lost."""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.barnabas_cluster import Cluster, await_true, running_cluster
from tests.faults.matrix.late_client import FETCH_VERSION, LateProducer, LateReader
from tests.faults.matrix.network import Network, network
from tests.faults.matrix.run import LAG_S
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.wire import WireClient

_ZOOKEEPER = "zookeeper"
_BROKERS = 3
_RECORDS = 10
_FLAPS = 8
_FLAP_S = 1.0
#: Both followers leave an ISR at once, and come back one by one.
_WRITES_FOR_ONE_LAPSE = 3
_UNDECIDED = {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}


@dataclass
class NetworkedCluster(Cluster):
    network: Network


@contextlib.contextmanager
def networked_cluster(directory: Path, settings: dict[str, str], _zookeepers: int) -> Iterator[NetworkedCluster]:
    """Each broker and the one ZooKeeper server on a host of their own; whoever asks is a client on another one."""
    hosts = [_ZOOKEEPER, *(_host(number) for number in range(1, _BROKERS + 1))]
    with network(*hosts) as made:
        places = {host: made.place(host) for host in hosts}
        with running_cluster(directory, _BROKERS, settings, places=places) as cluster:
            yield NetworkedCluster(cluster.zookeeper, cluster.brokers, made)


def cut_off_from_peers(stage: Stage) -> None:
    """Its followers leave the ISR; it goes on leading alone, acknowledges nothing to acks=all and shows nothing new."""
    leader = stage.state("kept", stage.random.randrange(6)).leader
    peers = stage.others(leader)
    stage.create("alone", [(leader, *peers)])
    before = _write(stage, "before", leader, "alone", "all")
    with _network(stage).apart(_host(leader), *map(_host, peers)):
        at = stage.note(f"{leader} is cut off from {peers}")
        pending = LateProducer("pending", stage.broker(leader).port, "alone", "all", stage.history, _at(stage, leader))
        pending.send(0)
        stage.await_isr("alone", 0, [leader])
        stage.measured["out"] = stage.note("they have left the ISR") - at
        for index in stage.led_by(peers[0], "kept"):
            stage.await_isr("kept", index, peers)
        codes = [*_write(stage, "alone", leader, "alone", "1"), *_write(stage, "peers", peers[0], "kept", "all")]
        _expect(stage, codes, {ErrorCode.NONE})
        stage.expect_too_few_in_sync("refused", leader, "alone", 0)
        _expect_nothing_shown_behind(stage, leader, "alone", len(before))
        _expect(stage, pending.outcomes(), _UNDECIDED)
        _expect_lost(stage, *_lost_on_the_way_to(stage, leader, *peers))
        if stage.state("alone").zk_version > len(peers):
            stage.violations.append(f"the ISR of who is alone was written {stage.state('alone').zk_version} times")


def cut_off_from_zookeeper(stage: Stage) -> None:
    """Its session ends and others lead; it does not know, clients reach it, and it acknowledges nothing any more."""
    partition = stage.random.randrange(6)
    leader = stage.state("kept", partition).leader
    port, address = stage.broker(leader).port, _at(stage, leader)
    with _network(stage).apart(_host(leader), _ZOOKEEPER):
        at = stage.note(f"{leader} is cut off from ZooKeeper")
        following = stage.await_leader("kept", partition, stage.others(leader))
        stage.measured["fail-over"] = stage.note("another leads") - at
        await_true(
            lambda: ErrorCode.NONE in _write(stage, f"next-{time.monotonic_ns()}", following, "kept", "1", partition),
            f"{following} serves what it leads",
            WHOLE_WITHIN_S,
        )
        for_all = LateProducer("late-all", port, "kept", "all", stage.history, address)
        for_one = LateProducer("late-one", port, "loose", "1", stage.history, address)
        for number in range(_RECORDS):
            for_all.send(partition)
            for_one.send(number % 3)
        stage.await_progress()
        codes = for_all.outcomes()
        if ErrorCode.NONE in codes:
            stage.violations.append(
                f"a leader that was replaced acknowledged acks=all: {[code.name for code in codes]}"
            )
        for_one.outcomes()
        reader = LateReader("late-reader", port, stage.history, address)
        reader.ask("kept", partition, 0)
        reader.note_answer()
        if stage.watch.broker_epoch(leader) >= 0:
            stage.violations.append(f"{leader} is still registered, so nothing has happened")
        _expect_lost(stage, *_lost_on_the_way_to(stage, leader), _network(stage).lost_on_the_way_to(_ZOOKEEPER))
    await_true(lambda: stage.watch.broker_epoch(leader) >= 0, f"{leader} is registered again", WHOLE_WITHIN_S)


def cut_one_way(stage: Stage) -> None:
    """One broker does not hear another, then the other does not hear the one, then ZooKeeper does not hear one."""
    one, other = stage.random.sample(stage.others(), 2)
    for deaf, unheard in ((one, other), (other, one)):
        with _network(stage).deaf(_host(deaf), _host(unheard)):
            at = stage.note(f"{deaf} does not hear {unheard}")
            for leader, follower in ((deaf, unheard), (unheard, deaf)):
                for index in stage.led_by(leader, "kept"):
                    stage.await_isr("kept", index, stage.others(follower))
            stage.measured["out"] = max(time.monotonic() - at, stage.measured.get("out", 0.0))
            stage.await_progress()
            _expect_lost(stage, *_lost_on_the_way_to(stage, deaf))
        stage.await_whole()
    epoch = stage.watch.broker_epoch(one)
    with _network(stage).deaf(_ZOOKEEPER, _host(one)):
        stage.note(f"ZooKeeper does not hear {one}")
        await_true(lambda: stage.watch.broker_epoch(one) != epoch, f"the session of {one} ends", WHOLE_WITHIN_S)
        stage.await_progress()
        _expect_lost(stage, _network(stage).lost_on_the_way_to(_ZOOKEEPER))


def flap(stage: Stage) -> None:
    """The cable of one broker is out for a second and in for a second: less than a session, less than the lag."""
    flapping = stage.random.choice(stage.others())
    before = {replica: stage.watch.state(replica).zk_version for replica in stage.replicas}
    sent_again = _network(stage).sent_again_by(_host(flapping))
    began = stage.note(f"the link of {flapping} flaps")
    for _ in range(_FLAPS):
        with _network(stage).unplugged(_host(flapping)):
            stage.stay_until(time.monotonic() + _FLAP_S)
        stage.stay_until(time.monotonic() + _FLAP_S)
    lapses_max = (stage.note("it does not any more") - began) / LAG_S
    _expect_lost(stage, _network(stage).sent_again_by(_host(flapping)) - sent_again)
    writes = {replica: stage.watch.state(replica).zk_version - before[replica] for replica in stage.replicas}
    stage.note(f"a state was written {max(writes.values())} times at most")
    stage.violations += [
        f"the state of {item} was written {count} times, though a follower may lapse {lapses_max:.1f} times at most"
        for item, count in writes.items()
        if count > _WRITES_FOR_ONE_LAPSE * lapses_max
    ]


def _network(stage: Stage) -> Network:
    return stage.cluster.network


def _host(broker_id: int) -> str:
    return f"broker-{broker_id}"


def _at(stage: Stage, broker_id: int) -> str:
    return stage.broker(broker_id).host


def _write(
    stage: Stage, name: str, broker_id: int, topic: str, acks: str, partition: int | None = None
) -> list[ErrorCode]:
    """What the broker says to a few records for a partition that it leads."""
    at = stage.led_by(broker_id, topic)[0] if partition is None else partition
    broker = stage.broker(broker_id)
    producer = LateProducer(f"{name}-{topic}", broker.port, topic, acks, stage.history, broker.host)
    for _ in range(_RECORDS):
        producer.send(at)
    return producer.outcomes()


def _expect(stage: Stage, codes: list[ErrorCode], allowed: set[ErrorCode]) -> None:
    if set(codes) - allowed:
        wanted = " or ".join(sorted(item.name for item in allowed))
        stage.violations.append(f"{wanted} was due, {[code.name for code in codes]} was answered")


def _expect_nothing_shown_behind(stage: Stage, leader: int, topic: str, offset: int) -> None:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1_000_000)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=1_000_000, topics=[FetchTopic(topic=topic, partitions=[partition])]
    )
    with WireClient(stage.broker(leader).port, _at(stage, leader)) as client:
        answer = client.ask(request, FETCH_VERSION).responses[0].partitions[0]
    if (answer.error_code, answer.high_watermark, bytes(answer.records or b"")) != (0, offset, b""):
        stage.violations.append(
            f"a leader without followers shows {TopicPartition(topic, 0)} to {answer.high_watermark}"
        )


def _lost_on_the_way_to(stage: Stage, *broker_ids: int) -> list[int]:
    return [_network(stage).lost_on_the_way_to(_host(broker_id)) for broker_id in broker_ids]


def _expect_lost(stage: Stage, *packets: int) -> None:
    stage.note(f"{packets} packets were lost")
    if not all(packets):
        stage.violations.append(f"{packets} packets were lost, so nothing has happened")
