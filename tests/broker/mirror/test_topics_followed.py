"""The connector itself, between real clusters: what hinders a topic, its settings or rules holds up no other."""

import uuid
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    ResourcePatternType,
    ResourceType,
)

from broker.connect.plugins.mirror.source import MirrorSourceConnector, parse_partitions
from broker.mirror.naming import HEARTBEATS
from broker.mirror.status import STATUS_TOPIC, WHOLE_TOPIC, understood
from broker.mirror.topic_keeper import TopicKeeper
from broker.mirror.topics import MirrorTopicChanges
from tests.barnabas_cluster import await_true
from tests.broker.mirror.conftest import denial


@pytest.fixture
def mark():
    return f"t-{uuid.uuid4().hex[:10]}"


def allowance(topic):
    return AclBinding(
        ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*", AclOperation.ALL,
        AclPermissionType.ALLOW,
    )  # fmt: skip


class Context:
    def __init__(self):
        self.errors = []

    def raise_error(self, error):
        self.errors.append(error)

    def request_task_reconfiguration(self):
        """Tests ask for the tasks' configurations themselves."""


@contextmanager
def connector(source, target, topics, **config):
    connector, context = MirrorSourceConnector(), Context()
    props = {
        "source.cluster.alias": source.alias,
        "target.cluster.alias": target.alias,
        "source.cluster.bootstrap.servers": source.bootstrap,
        "target.cluster.bootstrap.servers": target.bootstrap,
        "topics": topics,
        "replication.factor": "1",
        "refresh.topics.interval.seconds": "1",
        **config,
    }
    connector.start(props, context)
    try:
        yield connector
    finally:
        connector.stop()
        connector._thread.join(60)
    assert not context.errors


def assigned(connector):
    """But for beats, which every mirror copies where there are any."""
    topics = {
        partition.topic
        for config in connector.task_configs(4)
        for partition in parse_partitions(config["task.assigned.partitions"])
    }
    return topics - {HEARTBEATS}


def notice_of(target, topic):
    """What stands of the topic as a whole: (error, notice)."""
    notices = {}
    for _, key, value, _, _ in target.read(STATUS_TOPIC):
        entry = understood(key, value)
        if entry is not None and entry[1] == (topic, WHOLE_TOPIC):
            notices[topic] = entry[2] and (entry[2].error, entry[2].notice)
    return notices.get(topic)


def test_a_look_that_raises_what_nobody_foresaw_is_the_connectors_failure(north, south, monkeypatch):
    def look(_self):
        raise ZeroDivisionError("nobody foresaw it")

    monkeypatch.setattr(MirrorSourceConnector, "_look", look)
    with pytest.raises(AssertionError, match="nobody foresaw it"), connector(north, south, "x") as mirror:
        await_true(lambda: not mirror._thread.is_alive(), "it has ended", 20)


def test_a_cluster_is_not_its_own_mirror_whatever_it_is_called(north, mark):
    north.create(mark)
    itself = SimpleNamespace(alias="other", bootstrap=north.bootstrap)
    with pytest.raises(AssertionError, match="the same cluster"), connector(north, itself, mark) as mirror:
        await_true(lambda: not mirror._thread.is_alive(), "it has ended", 20)
    assert f"north.{mark}" not in north.admin.list_topics(timeout=10).topics


def test_partitions_that_are_younger_than_a_mirror_from_the_end_are_copied_whole(north, south, mark):
    north.create(mark)
    with connector(north, south, f"{mark}.*", **{"consumer.auto.offset.reset": "latest"}) as mirror:
        await_true(lambda: assigned(mirror) == {mark}, "it is copied", 30)
        assert later(mirror) == []
        north.admin.create_partitions([NewPartitions(mark, 3)])[mark].result(20)
        north.create(f"{mark}-young")
        await_true(lambda: later(mirror) == [f"{mark}-1", f"{mark}-2", f"{mark}-young-0"], "they are known", 30)


def later(connector):
    return sorted(filter(None, connector.task_configs(1)[0]["task.partitions.made.later"].split(",")))


def test_a_mirror_that_is_not_to_look_for_new_topics_keeps_those_it_began_with(north, south, mark):
    north.create(mark, 1)
    with connector(north, south, f"{mark}.*", **{"refresh.topics.enabled": "false"}) as mirror:
        await_true(lambda: assigned(mirror) == {mark}, "it has begun", 60)
        north.create(f"{mark}-later", 1)
        north.admin.create_partitions([NewPartitions(mark, 2)])[mark].result(20)
        mirror._look()
        assert [str(partition) for partition in mirror._assigned if partition.topic != HEARTBEATS] == [f"{mark}-0"]


def test_a_topic_whose_copy_would_have_too_long_a_name_is_told_and_the_others_are_copied(north, south, mark):
    long = mark + "n" * (249 - len(mark))
    for topic in (mark, long):
        north.create(topic)
    with connector(north, south, f"{mark}.*") as mirror:
        await_true(lambda: assigned(mirror) == {mark}, "the other one is copied", 30)
        await_true(lambda: notice_of(south, long), "it is told why", 30)
    assert "255 characters" in notice_of(south, long)[0]


def test_a_topic_named_to_be_matched_for_years_is_told_and_the_others_are_copied(north, south, mark):
    hostile, plain = f"{mark}{'a' * 60}-", f"{mark}aa"
    north.create(hostile)
    with connector(north, south, f"{mark}(a+)+") as mirror:
        await_true(lambda: notice_of(south, hostile), "it is told why", 30)
        north.create(plain)
        await_true(lambda: assigned(mirror) == {plain}, "the other one is copied", 30)
    assert "too many ways to match" in notice_of(south, hostile)[0]


def test_what_was_said_of_a_topic_is_taken_back_when_it_is_not_copied_any_more(north, south, mark):
    long = mark + "n" * (249 - len(mark))
    north.create(long)
    with connector(north, south, f"{mark}.*"):
        await_true(lambda: notice_of(south, long), "it is told why", 30)
    with connector(north, south, f"{mark}.*", **{"topics.exclude": ".*nnn"}):
        await_true(lambda: notice_of(south, long) is None, "it is taken back", 30)


def test_settings_and_rules_that_the_target_refuses_keep_no_topic_from_its_copy(north, south, mark):
    topics = [f"{mark}-{number}" for number in range(2)]
    for topic in topics:
        north.create(topic, retention_ms="123456789")
    rule = allowance(topics[0])
    north.admin.create_acls([rule])[rule].result(20)
    with connector(north, south, f"{mark}.*") as mirror:
        await_true(lambda: assigned(mirror) == set(topics), "south keeps no rules, and has copies all the same", 30)


def test_a_copy_whose_settings_may_not_be_changed_is_told_and_goes_on(north, south, mark):
    south.create(mark, retention_ms="123456789")
    copy = f"south.{mark}"
    north.create(copy)
    for rule in (allowance(copy), denial(copy, AclOperation.ALTER_CONFIGS)):
        north.admin.create_acls([rule])[rule].result(20)
    with connector(south, north, mark) as mirror:
        await_true(lambda: assigned(mirror) == {mark}, "it is copied", 30)
        await_true(lambda: notice_of(north, mark), "it is told", 30)
    error, notice = notice_of(north, mark)
    assert error is None
    assert notice.startswith("settings do not follow: ")


def setting(side, topic, value=None):
    """Is set first where a value is given."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    if value:
        entry = ConfigEntry("retention.ms", value, incremental_operation=AlterConfigOpType.SET)
        change = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        side.admin.incremental_alter_configs([change])[change].result(20)
    return side.admin.describe_configs([resource])[resource].result(20)["retention.ms"].value


def test_a_setting_that_was_changed_is_not_taken_back_by_the_mirror_that_comes_the_other_way(north, south, mark):
    names = {"replication.policy.class": "IdentityReplicationPolicy", "refresh.topics.interval.seconds": "3600"}
    for side in (north, south):
        side.create(mark, retention_ms="1000001")
    with connector(north, south, mark, **names) as there, connector(south, north, mark, **names) as back:
        for copier in (there, back):
            await_true(lambda copier=copier: assigned(copier) == {mark}, "it is copied", 30)
        for value, (changed, other), looks in (
            ("2000002", (south, north), (there, back)), ("3000003", (north, south), (back, there)),
        ):  # fmt: skip
            setting(changed, mark, value)
            for look in looks:
                look._look()
            await_true(lambda other=other, value=value: setting(other, mark) == value, "it follows", 20)
            for look in (*looks, *looks):
                look._look()
            assert setting(north, mark) == setting(south, mark) == value


def test_a_copy_whose_settings_the_target_does_not_know_is_made_without_them(north, south, mark):
    keeper = TopicKeeper(north.admin, south.admin, 1)
    settings = {mark: {"retention.ms": "never"}}
    assert keeper.apply(MirrorTopicChanges({mark: 3}, {}, {}), settings) == {}
    await_true(lambda: keeper.topics(of_source=False).get(mark) == 3, "it is there", 20)
