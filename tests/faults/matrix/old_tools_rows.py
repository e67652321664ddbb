"""Admin tools that write ZooKeeper themselves: CMAK, Kafka's of 2.0 and 2.7 with `--zookeeper`, Kafka's of 3.8.

They know nothing of topic ids, and write a topic's znode whole.
"""

import json

from kazoo.client import KazooClient

from broker.common.types import TopicPartition
from broker.zookeeper.znodes import topic_path
from tests.barnabas_cluster import await_true
from tests.faults.matrix.foreign_hands import (
    ALL_REPLICAS,
    KeptTopic,
    as_json,
    assignment_without_id,
    await_topic_with_id,
    create_without_id,
    topic_id_of,
    zookeeper_of,
)
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

#: A broker says that it has written the id back, or made one.
IDS_TOLD = (r'event="topic id written into a znode"',)


def write_without_ids(stage: Stage) -> None:
    """Topic znodes without ids: of a topic in use (partitions added), of new ones, and while every broker is down."""
    added, asleep = KeptTopic(stage, "added"), KeptTopic(stage, "asleep")
    with zookeeper_of(stage) as client:
        ids = {topic.name: topic_id_of(client, topic.name) for topic in (added, asleep)}
        client.set(topic_path("added"), assignment_without_id(2))
        stage.note("CMAK adds a partition")
        stage.follow("added", [ALL_REPLICAS] * 2)
        stage.await_whole()
        for topic in ("first", "second"):
            create_without_id(client, topic)
        stage.note("kafka-topics of 2.0 creates two topics")
        new = [KeptTopic(stage, topic, exists="yes") for topic in ("first", "second") if _is_led(stage, topic)]
        stage.kill(*stage.others())
        client.set(topic_path("asleep"), assignment_without_id(1))
        stage.note("kafka-topics of 2.7 rewrites a topic while every broker is down")
        stage.heal()
        stage.await_whole()
        for topic in (added, asleep, *new):
            topic.expect_usable("znodes without topic ids")
            await_topic_with_id(stage, client, topic.name, ids.get(topic.name))


def _is_led(stage: Stage, topic: str) -> bool:
    stage.follow(topic, [ALL_REPLICAS])
    stage.await_whole()
    return True


def ask_through_znodes(stage: Stage) -> None:
    """Partitions added with the id kept, a configuration, a move, a preferred election and a deletion, all asked by
    znodes: each is done, and nothing else is.
    """
    kept, moved = KeptTopic(stage, "asked"), KeptTopic(stage, "moved")
    stage.create("unwanted", [ALL_REPLICAS])
    with zookeeper_of(stage) as client:
        _add_a_partition_as_3_8(stage, client)
        _configure(stage, client)
        _move(stage, client)
        _elect(stage, client)
        _delete(stage, client)
    for topic in (kept, moved):
        topic.expect_usable("what old tools asked for")


def _add_a_partition_as_3_8(stage: Stage, client: KazooClient) -> None:
    """With the id, as all that knows of ids does."""
    assignment = json.loads(client.get(topic_path("asked"))[0])
    assignment["partitions"]["1"] = [2, 3, 1]
    client.set(topic_path("asked"), as_json(assignment))
    stage.note("a tool of 3.8 adds a partition")
    stage.follow("asked", [ALL_REPLICAS, (2, 3, 1)])
    stage.await_whole()


def _configure(stage: Stage, client: KazooClient) -> None:
    """As `kafka-configs --zookeeper` does: the znode, then a notification."""
    client.ensure_path("/config/changes")
    client.set("/config/topics/asked", as_json({"version": 1, "config": {"max.message.bytes": "77777"}}))
    notification = as_json({"version": 2, "entity_path": "topics/asked"})
    client.create("/config/changes/config_change_", notification, sequence=True)
    stage.note("kafka-configs of 2.7 changes a configuration")
    await_true(lambda: stage.topic_config("asked", "max.message.bytes") == "77777", "it is in effect", WHOLE_WITHIN_S)


def _move(stage: Stage, client: KazooClient) -> None:
    target = [3, 2, 1]
    wanted = [{"topic": "moved", "partition": 0, "replicas": target}]
    client.create("/admin/reassign_partitions", as_json({"version": 1, "partitions": wanted}))
    stage.note("kafka-reassign-partitions of 2.0 changes the order of replicas")
    await_true(lambda: not client.exists("/admin/reassign_partitions"), "the move has ended", WHOLE_WITHIN_S)
    stage.follow("moved", [tuple(target)])
    stage.await_whole()


def _elect(stage: Stage, client: KazooClient) -> None:
    wanted = [{"topic": "moved", "partition": 0}]
    client.create("/admin/preferred_replica_election", as_json({"version": 1, "partitions": wanted}))
    stage.note("kafka-preferred-replica-election of 2.0 asks for the first replica")
    stage.await_leader("moved", 0, [3])
    gone = lambda: not client.exists("/admin/preferred_replica_election")  # noqa: E731
    await_true(gone, "the election has ended", WHOLE_WITHIN_S)


def _delete(stage: Stage, client: KazooClient) -> None:
    client.create("/admin/delete_topics/unwanted")
    stage.note("kafka-topics of 2.0 deletes a topic")
    del stage.replicas[TopicPartition("unwanted", 0)]
    await_true(lambda: not client.exists(topic_path("unwanted")), "the topic is gone", WHOLE_WITHIN_S)
