"""Znodes edited by hand with zkCli: what cannot be read, a partition's state deleted, the controller's znode deleted,
its epoch changed, a topic removed and written back, a topic that brokers may not read.
"""

import contextlib

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka import TopicPartition as Committed
from confluent_kafka.admin import AdminClient
from kazoo.client import KazooClient
from kazoo.exceptions import NodeExistsError
from kazoo.security import make_acl, make_digest_acl

from broker.common.types import TopicPartition
from broker.zookeeper.znodes import CONTROLLER, CONTROLLER_EPOCH, state_path, topic_path
from tests.barnabas_cluster import await_true
from tests.faults.matrix.foreign_hands import KeptTopic, zookeeper_of
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage

#: What a hand that slipped leaves.
_GARBLED = b'{"version":1,"partitions":{"0":[1,2'
_ASKING = ("/admin/reassign_partitions", "/admin/preferred_replica_election")
_EPOCHS_AHEAD = 7
_GROUP = "reader-of-edited"
_COMMITTED = 7


def edit(stage: Stage) -> None:
    """After each edit all topics keep their records, can be written to, and new ones can be created."""
    kept, edited = KeptTopic(stage, "beside"), KeptTopic(stage, "edited")
    with zookeeper_of(stage) as client:
        for what, by_hand in _EDITS.items():
            by_hand(stage, client)
            stage.note(what)
            stage.await_topic_can_be_created("after-" + what.replace(" ", "-"))
            stage.await_whole()
            kept.expect_usable(what)
            edited.expect_kept(what)
        edited.expect_usable("all edits")


def _ask_nonsense(stage: Stage, client: KazooClient) -> None:
    """The controller takes it away, as it could do nothing else with it."""
    for path in _ASKING:
        client.create(path, _GARBLED)
    for path in _ASKING:
        await_true(lambda path=path: not client.exists(path), f"{path} is taken away", WHOLE_WITHIN_S)


def _garble_a_notification(_stage: Stage, client: KazooClient) -> None:
    client.ensure_path("/config/changes")
    client.create("/config/changes/config_change_", _GARBLED, sequence=True)


def _garble_a_configuration(_stage: Stage, client: KazooClient) -> None:
    client.set("/config/topics/edited", _GARBLED)


def _garble_a_topic(_stage: Stage, client: KazooClient) -> None:
    """And mend it, as whoever did it would: brokers go on by what they knew."""
    before, _ = client.get(topic_path("edited"))
    client.set(topic_path("edited"), _GARBLED)
    client.set(topic_path("edited"), before)


def _delete_the_controller(stage: Stage, client: KazooClient) -> None:
    client.delete(CONTROLLER)
    stage.await_controller(stage.others())


def _delete_a_state(_stage: Stage, client: KazooClient) -> None:
    """Who leads goes on; a controller that comes later finds no state, and has one made."""
    client.delete(state_path(TopicPartition("edited", 0)))
    client.delete(CONTROLLER)


def _delete_a_state_while_all_are_down(stage: Stage, client: KazooClient) -> None:
    """A replica lags, every broker is killed, a state is deleted: the first to start is the one that lacks records.

    It must wait for the others, whose logs reach further: what was acknowledged without it would be truncated.
    """
    behind, others = 3, [1, 2]
    topic = KeptTopic(stage, "left-behind")
    stage.kill_and_expire(behind)
    stage.await_isr(topic.name, 0, others)
    topic.write()
    stage.kill(*others)
    client.delete(state_path(TopicPartition(topic.name, 0)))
    stage.start(behind)
    is_waiting = lambda: (state := stage.state(topic.name)) is not None and not state.has_known_isr  # noqa: E731
    await_true(is_waiting, "the partition waits for the logs of the brokers that are away", WHOLE_WITHIN_S)
    stage.start(*others)
    stage.await_whole()
    topic.expect_usable("a state is deleted while all brokers are down")


def _raise_the_controller_epoch(stage: Stage, client: KazooClient) -> None:
    """Epochs only grow: who is elected next takes a later one still."""
    epoch = int(client.get(CONTROLLER_EPOCH)[0])
    client.set(CONTROLLER_EPOCH, b"%d" % (epoch + _EPOCHS_AHEAD))
    client.delete(CONTROLLER)
    later = lambda: int(client.get(CONTROLLER_EPOCH)[0]) > epoch + _EPOCHS_AHEAD  # noqa: E731
    await_true(later, "a controller has a later epoch", WHOLE_WITHIN_S)
    stage.await_controller(stage.others())


def _write_a_topic_back(stage: Stage, client: KazooClient) -> None:
    """Who removes a topic's znodes and restores them from a copy has its records, and what groups have committed."""
    admin = AdminClient({"bootstrap.servers": stage.cluster.bootstrap_servers, "log_level": 0})
    wanted = ConsumerGroupTopicPartitions(_GROUP, [Committed("edited", 0, _COMMITTED)])
    admin.alter_consumer_group_offsets([wanted])[_GROUP].result(WHOLE_WITHIN_S)
    root = topic_path("edited")
    nodes = {path: client.get(path)[0] for path in _tree(client, root)}
    client.delete(root, recursive=True)
    is_known = lambda: "edited" in admin.list_topics(timeout=5).topics  # noqa: E731
    await_true(lambda: not is_known(), "no broker knows the topic", WHOLE_WITHIN_S)
    for path, value in nodes.items():
        with contextlib.suppress(NodeExistsError):  # the controller is quicker, since it has seen the topic
            client.create(path, value)
    await_true(is_known, "the topic is there again", WHOLE_WITHIN_S)
    stage.await_whole()
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(_GROUP)])[_GROUP].result(WHOLE_WITHIN_S)
    offsets = [partition.offset for partition in answer.topic_partitions]
    if offsets != [_COMMITTED]:
        stage.violations.append(
            f"I6: {_GROUP} has committed {_COMMITTED}; after its topic was written back it is {offsets}"
        )


def _hide_a_topic(stage: Stage, client: KazooClient) -> None:
    """A tool that writes with an access list of its own takes brokers' right to read: they start all the same."""
    path, second = topic_path("edited"), 2
    before, _ = client.get_acls(path)
    client.set_acls(
        path, [make_digest_acl("another-tool", "secret", all=True), make_acl("world", "anyone", admin=True)]
    )
    stage.kill(second)
    stage.start(second)
    stage.await_whole()
    client.set_acls(path, before)


def _tree(client: KazooClient, path: str) -> list[str]:
    children = sorted(client.get_children(path))
    return [path, *(node for child in children for node in _tree(client, f"{path}/{child}"))]


_EDITS = {
    "a topic is removed and written back": _write_a_topic_back,
    "a topic may not be read": _hide_a_topic,
    "nonsense is asked for": _ask_nonsense,
    "a notification is garbled": _garble_a_notification,
    "a configuration is garbled": _garble_a_configuration,
    "a topic is garbled for a moment": _garble_a_topic,
    "the controller znode is deleted": _delete_the_controller,
    "a state is deleted": _delete_a_state,
    "a state is deleted while all are down": _delete_a_state_while_all_are_down,
    "the controller epoch is raised": _raise_the_controller_epoch,
}
