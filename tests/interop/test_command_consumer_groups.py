"""`kafka-consumer-groups` on groups of three client libraries."""

import asyncio
import json

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, Producer, TopicPartition
from kafka import KafkaConsumer
from kafka import TopicPartition as KafkaPythonPartition
from kafka.structs import OffsetAndMetadata

from tests.barnabas_cluster import await_true
from tests.interop.group_member import LIBRARIES
from tests.typed import typed

HOUR_AGO_MS, RECORDS = 1_700_000_000_000, 10


@pytest.fixture
def groups(cluster):
    """`kafka-consumer-groups` on the cluster."""
    return lambda *words: typed("kafka-consumer-groups", "--bootstrap-server", cluster.bootstrap_servers, *words)


@pytest.fixture
def topic(cluster, name):
    """Two partitions; in the first ten records, a second apart."""
    typed(
        "kafka-topics",
        "--bootstrap-server",
        cluster.bootstrap_servers,
        "--create",
        "--topic",
        name,
        "--partitions=2",
        "--config=retention.ms=-1",
    )
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for at in range(RECORDS):
        producer.produce(name, str(at), partition=0, timestamp=HOUR_AGO_MS + at * 1000)
    assert producer.flush(20) == 0
    return name


@pytest.fixture
def empty_group(cluster, topic):
    """Named as its topic, of whose first partition it has read four."""
    return commit("confluent-kafka", cluster.bootstrap_servers, topic, 4)


@pytest.fixture
def member(cluster, topic):
    """Of a group named as its topic, with both partitions."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": topic,
            "client.id": "reader",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([topic])
    await_true(lambda: consumer.poll(0.1) is not None, "a record is read")
    consumer.commit(offsets=[TopicPartition(topic, 0, 4)], asynchronous=False)
    yield consumer
    consumer.close()


def commit(library, servers, topic, offset):
    """As a consumer that assigns itself partitions; the group."""
    if library == "confluent-kafka":
        consumer = Consumer({"bootstrap.servers": servers, "group.id": topic})
        consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
        consumer.close()
    elif library == "kafka-python":
        other = KafkaConsumer(bootstrap_servers=servers, group_id=topic, enable_auto_commit=False)
        other.assign([KafkaPythonPartition(topic, 0)])
        other.commit({KafkaPythonPartition(topic, 0): OffsetAndMetadata(offset, "", -1)})
        other.close()
    else:
        asyncio.run(_commit_with_aiokafka(servers, topic, offset))
    return topic


async def _commit_with_aiokafka(servers, topic, offset):
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, group_id=topic, enable_auto_commit=False)
    await consumer.start()
    consumer.assign([AioPartition(topic, 0)])
    await consumer.commit({AioPartition(topic, 0): offset})
    await consumer.stop()


def committed(groups, group):
    (described,) = json.loads(groups("--describe", "--group", group, "--output", "json").out)
    return {offset["partition"]: offset["currentOffset"] for offset in described["offsets"]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_group_of_any_client_is_listed_described_moved_and_deleted(cluster, groups, topic, library):
    commit(library, cluster.bootstrap_servers, topic, 4)
    assert topic in groups("--list").out.split()
    assert (topic, "Empty") in {tuple(line.split()) for line in groups("--list", "--state", "empty").out.splitlines()}
    assert topic not in groups("--list", "--state", "Stable").out.split()
    status, out, err = groups("--describe", "--group", topic)
    assert (status, err) == (0, f"\nConsumer group '{topic}' has no active members.\n")
    assert out.splitlines()[2].split() == [topic, topic, "0", "4", "10", "6", "-", "-", "-"]
    moved = groups("--reset-offsets", "--group", topic, "--topic", topic, "--to-latest", "--execute")
    assert [line.split() for line in moved.out.splitlines()[2:]] == [
        [topic, topic, "0", "10"],
        [topic, topic, "1", "0"],
    ]
    assert committed(groups, topic) == {0: 10, 1: 0}
    deleted = groups("--delete", "--group", topic)
    assert deleted == (0, f"Deletion of requested consumer groups ('{topic}') was successful.\n", "")
    assert groups("--describe", "--group", topic).out == f"\nError: Consumer group '{topic}' does not exist.\n"


#: Of a group that is to read the fifth of ten records.
TARGETS = {
    "--to-earliest": 0,
    "--to-latest": 10,
    "--to-current": 4,
    "--to-offset=7": 7,
    "--to-offset=-99": 0,
    "--shift-by=-2": 2,
    "--shift-by=99": 10,
    "--to-datetime=2023-11-14T22:13:23.500": 4,
    "--to-datetime=2023-11-14T23:13:23.500+01:00": 4,
    "--by-duration=P9999D": 0,
    "--by-duration=PT1S": 10,
}


def test_every_target_is_where_the_group_would_read(groups, empty_group):
    scope = ("--reset-offsets", "--group", empty_group, "--topic", f"{empty_group}:0", "--export")
    planned = {target: groups(*scope, target) for target in TARGETS}
    assert {target: shown.out.splitlines()[-2:] for target, shown in planned.items()} == {
        target: [f"{empty_group},0,{offset}", ""] for target, offset in TARGETS.items()
    }
    warning = "WARN: No action will be performed as the --execute option is missing. In version 5.0, "
    assert all(shown.err.startswith(warning) for shown in planned.values())
    assert committed(groups, empty_group) == {0: 4}


def test_what_was_exported_is_put_back_from_its_file(groups, empty_group, tmp_path):
    scope = ("--reset-offsets", "--group", empty_group)
    kept = groups(*scope, "--all-topics", "--to-current", "--export", "--dry-run")
    assert kept == (0, f"{empty_group},0,4\n\n", "")
    (tmp_path / "kept.csv").write_text(kept.out)
    groups(*scope, "--all-topics", "--to-earliest", "--execute")
    assert committed(groups, empty_group) == {0: 0}
    groups(*scope, "--from-file", str(tmp_path / "kept.csv"), "--execute")
    assert committed(groups, empty_group) == {0: 4}
    (tmp_path / "kept.csv").write_text("nonsense\n")
    status, out, err = groups(*scope, "--from-file", str(tmp_path / "kept.csv"), "--dry-run")
    assert (status, err) == (0, "")
    assert out.startswith(
        "\nError: Executing consumer group command failed due to line 1 is not topic,partition,offset"
    )


def test_what_was_moved_before_another_group_failed_is_told(groups, empty_group):
    both = ("--group", empty_group, "--group", f"{empty_group}-x", "--topic", f"{empty_group}:0")
    status, out, _ = groups("--reset-offsets", *both, "--shift-by", "1", "--execute")
    assert status == 0
    moved, _, error = out.splitlines()[2:]
    assert moved.split() == [empty_group, empty_group, "0", "5"]
    assert error.endswith("since there is no current committed offset")
    assert committed(groups, empty_group) == {0: 5}


def test_members_are_described_with_what_they_have(groups, topic, member):
    (row,) = [
        line.split() for line in groups("--describe", "--group", topic, "--members", "--verbose").out.splitlines()[2:]
    ]
    assert row[0] == topic
    assert row[1].startswith("reader-")
    assert row[3:] == ["reader", "2", f"{topic}(0,1)"]
    rows = [line.split() for line in groups("--describe", "--group", topic).out.splitlines()[2:]]
    assert [row[2:6] for row in rows] == [["0", "4", "10", "6"], ["1", "-", "0", "-"]]
    assert {row[-1] for row in rows} == {"reader"}
    assert groups("--describe", "--group", topic, "--state").out.splitlines()[2].split()[-3:] == [
        "range",
        "Stable",
        "1",
    ]


def test_a_group_with_members_is_neither_moved_nor_deleted(groups, topic, member):
    status, out, _ = groups("--reset-offsets", "--group", topic, "--topic", topic, "--to-earliest", "--execute")
    assert status == 0
    assert out.startswith(
        f"\nError: Assignments can only be reset if the group '{topic}' is inactive, but the current state is Stable.\n"
    )
    assert out.splitlines()[-1].split() == ["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"]
    status, out, _ = groups("--delete", "--group", topic)
    assert (status, out.splitlines()) == (
        0,
        [
            "",
            "Error: Deletion of some consumer groups failed:",
            f"* Group '{topic}' could not be deleted due to: "
            "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.",
        ],
    )
    forgotten = groups("--delete-offsets", "--group", topic, "--topic", topic).out
    assert forgotten.startswith("\nError: Encounter some partition level error, see the follow-up details:\n")
    assert committed(groups, topic)[0] == 4


def test_offsets_of_a_topic_are_forgotten(groups, empty_group):
    forgotten = groups("--delete-offsets", "--group", empty_group, "--topic", f"{empty_group}:0")
    assert forgotten.out.splitlines() == [
        f"Request succeeded for deleting offsets from group {empty_group}.",
        "",
        f"{'TOPIC':<{max(15, len(empty_group))}} PARTITION  STATUS         ",
        f"{empty_group:<15} 0          Successful     ",
    ]
    absent = groups("--delete-offsets", "--group", empty_group, "--topic", f"{empty_group}-x").out
    assert absent.splitlines()[-1].split()[1] == "-"
    assert "Error: org.apache.kafka.common.errors.UnknownTopicOrPartitionException: " in absent


def test_only_what_was_typed_wrong_has_a_status(cluster, groups, name):
    for words in (
        ("--describe",),
        ("--describe", "--group", name, "--members", "--state"),
        ("--list", "--state", "foo"),
        ("--reset-offsets", "--group", name, "--to-earliest"),
        ("--reset-offsets", "--group", name, "--all-topics"),
        ("--reset-offsets", "--group", name, "--all-topics", "--to-datetime", "yesterday"),
    ):
        status, out, err = groups(*words)
        assert (status, out) == (1, ""), words
        assert err
    status, out, err = groups("--reset-offsets", "--group", name, "--topic", name, "--to-earliest", "--dry-run")
    assert (status, err) == (0, "")
    assert out.startswith("\nError: Executing consumer group command failed due to ")
    nobody = typed("kafka-consumer-groups", "--bootstrap-server", "127.0.0.1:1", "--list", "--new-consumer")
    assert nobody.status == 0
    assert nobody.out.startswith(
        "\nError: Executing consumer group command failed due to cannot connect to 127.0.0.1:1"
    )


def test_old_words_find_the_same_groups(cluster, groups, empty_group):
    zookeeper = cluster.brokers[0].zookeeper_connect
    assert empty_group in typed("kafka-consumer-groups", "--zookeeper", zookeeper, "--list").out.split()
    deleted = typed("kafka-consumer-groups", "--zookeeper", zookeeper, "--delete", "--group", empty_group)
    assert deleted.out == f"Deleted all consumer group information for group '{empty_group}' in zookeeper.\n"
