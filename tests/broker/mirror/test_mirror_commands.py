"""The mirrors as commands: the first generation, the dedicated one, and a group that moves there and back."""

import uuid
from contextlib import ExitStack

import pytest
from confluent_kafka import Consumer, TopicPartition

from broker.cli.kafka_mirror_maker import CLUSTERS, with_clusters
from tests.barnabas_cluster import await_true
from tests.broker.mirror.running import begun, properties
from tests.typed import typed, typed_in_shell


@pytest.fixture
def topic():
    return f"t-{uuid.uuid4().hex[:10]}"


def has(side, topic):
    return topic in side.admin.list_topics(timeout=10).topics


@pytest.fixture
def begin(tmp_path):
    """Starts a command that goes on; it has ended afterwards."""
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(begun(*words, log=tmp_path / f"log-{uuid.uuid4().hex}"))


def test_the_first_mirror_copies_under_the_same_name_and_goes_on_where_it_stopped(north, south, topic, begin, tmp_path):
    for side in (north, south):
        side.create(topic)
    consumer = properties(
        tmp_path / "consumer",
        **{"bootstrap.servers": north.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"},
    )  # fmt: skip
    producer = properties(tmp_path / "producer", **{"bootstrap.servers": south.bootstrap})
    for turn, generation in enumerate((["--include"], ["--new.consumer", "--whitelist"])):
        north.write(
            topic, [f"{turn}-{number}" for number in range(20)], key="k", headers=[("h", b"1")], timestamp=1234567
        )
        mirror = begin(
            "kafka-mirror-maker", "--consumer.config", consumer, "--producer.config", producer, *generation,
            f"{topic}.*",
        )  # fmt: skip
        await_true(lambda wanted=20 * (turn + 1): len(south.read(topic)) == wanted, "all is there", 60)
        mirror.terminate()
        assert mirror.wait(40) == 143
    been = (CLUSTERS, f"{north.id},{south.id}".encode())
    assert [item[1:] for item in south.read(topic)] == [
        (key, value, [*headers, been], timestamp) for _, key, value, headers, timestamp in north.read(topic)
    ]


def test_first_mirrors_there_and_back_make_no_loop(north, south, topic, begin, tmp_path):
    for side in (north, south):
        side.create(topic)
        side.write(topic, [f"from {side.alias}"])
    for source, target in ((north, south), (south, north)):
        consumer = properties(
            tmp_path / f"{source.alias}-consumer",
            **{"bootstrap.servers": source.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"},
        )  # fmt: skip
        producer = properties(tmp_path / f"{target.alias}-producer", **{"bootstrap.servers": target.bootstrap})
        begin(
            "kafka-mirror-maker", "--consumer.config", consumer, "--producer.config", producer, "--include", topic,
            "--offset.commit.interval.ms", "200",
        )  # fmt: skip
    for side in (north, south):
        reader = Consumer({"bootstrap.servers": side.bootstrap, "group.id": topic})
        place = TopicPartition(topic, 0)
        await_true(
            lambda reader=reader, place=place: reader.committed([place], timeout=10)[0].offset == 2, "passed", 60
        )
        reader.close()
        assert len(side.read(topic)) == 2


def test_where_a_record_has_been_goes_with_it():
    once = with_clusters([("h", b"1")], "a", "b")
    assert once == [("h", b"1"), (CLUSTERS, b"a,b")]
    assert with_clusters(once, "b", "c") == [("h", b"1"), (CLUSTERS, b"a,b,c")]
    assert with_clusters(once, "b", "a") is None
    assert with_clusters(once, "a", "b") is None
    assert with_clusters([(CLUSTERS, None), (CLUSTERS, b"\xff")], "a", "b") == [(CLUSTERS, b",\xff,a,b")]
    assert with_clusters([], None, "b") == []


def test_what_a_mirror_cannot_do_is_said(tmp_path):
    some = properties(tmp_path / "some", **{"bootstrap.servers": "127.0.0.1:1", "group.id": "g"})
    both = ("--consumer.config", some, "--producer.config", some)
    assert "Exactly one of --include and --blacklist" in typed("kafka-mirror-maker", *both).err
    handler = typed("kafka-mirror-maker", *both, "--include", "x", "--message.handler", "com.example.Handler")
    assert handler.status == 1
    assert "a class of Java" in handler.err
    assert "must name at least two" in typed_in_shell("connect-mirror-maker", some).out


@pytest.fixture
def mm2(north, south, tmp_path, topic):
    return properties(
        tmp_path / "mm2.properties",
        **{
            "clusters": "north, south",
            "north.bootstrap.servers": north.bootstrap,
            "south.bootstrap.servers": south.bootstrap,
            "north->south.enabled": "true",
            "south->north.enabled": "true",
            "south.exactly.once.source.support": "enabled",
            "north.exactly.once.source.support": "enabled",
            "topics": f"{topic}.*",
            "replication.factor": "1",
            "refresh.topics.interval.seconds": "1",
            "emit.heartbeats.enabled": "false",
        },
    )


def commit(side, group, topic, offset):
    member = Consumer({"bootstrap.servers": side.bootstrap, "group.id": group})
    member.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    member.close()


def committed(side, group, topic):
    reader = Consumer({"bootstrap.servers": side.bootstrap, "group.id": group})
    try:
        return reader.committed([TopicPartition(topic, 0)], timeout=10)[0].offset
    finally:
        reader.close()


def test_a_group_moves_there_and_back_and_reads_each_record_once(north, south, topic, begin, mm2):
    north.create(topic)
    begin("connect-mirror-maker", mm2)
    north.write(topic, [f"{number}" for number in range(60)])
    copy = f"north.{topic}"
    await_true(lambda: has(south, copy) and len(south.read(copy)) == 60, "all is there", 60)
    group = f"g-{topic}"
    commit(north, group, topic, 25)
    there = (
        "kafka-mirror-groups", "--bootstrap-server", north.bootstrap, "--to-bootstrap-server", south.bootstrap,
        "--flow", "north->south", "--group", group,
    )  # fmt: skip
    shown = typed(*there)
    assert shown.status == 0, shown.err
    assert f"{copy}-0" in shown.out
    assert "Nothing was changed" in shown.out
    assert committed(south, group, copy) < 0
    assert typed(*there, "--execute").status == 0
    place = committed(south, group, copy)
    assert [offset for offset, _, value, _, _ in south.read(copy) if value == b"25"] == [place]
    commit(south, group, copy, place + 10)
    back = typed(
        "kafka-mirror-groups", "--bootstrap-server", south.bootstrap, "--to-bootstrap-server", north.bootstrap,
        "--flow", "south->north", "--group", group, "--execute",
    )  # fmt: skip
    assert back.status == 0, back.err
    assert committed(north, group, topic) == 35
    assert not has(north, f"south.{copy}"), "a copy is not sent back"


def test_a_second_mirror_waits_and_takes_over_when_the_first_is_killed(north, south, topic, begin, mm2):
    north.create(topic)
    first = begin("connect-mirror-maker", mm2)
    copy = f"north.{topic}"
    north.write(topic, ["before"])
    await_true(lambda: has(south, copy) and len(south.read(copy)) == 1, "the first works", 60)
    begin("connect-mirror-maker", mm2)
    north.write(topic, [f"{number}" for number in range(100)])
    first.kill()
    first.wait(10)
    north.write(topic, ["after"])
    await_true(lambda: south.values(copy)[-1:] == [b"after"], "the second has taken over", 90)
    assert south.values(copy) == north.values(topic)
