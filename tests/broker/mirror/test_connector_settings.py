"""Settings of Kafka's mirror that say what is copied, and those that ours has no class for."""

import pytest

from broker.connect.plugins.mirror import settings
from broker.connect.plugins.mirror.checkpoint import MirrorCheckpointConnector
from broker.connect.plugins.mirror.heartbeat import MirrorHeartbeatConnector

CLUSTERS = {
    "source.cluster.alias": "a",
    "target.cluster.alias": "b",
    "source.cluster.bootstrap.servers": "127.0.0.1:1",
    "target.cluster.bootstrap.servers": "127.0.0.1:2",
}


def leaves_out(topic, **props):
    values = settings.SOURCE.parse(CLUSTERS | {name.replace("_", "."): value for name, value in props.items()})
    return any(pattern.fullmatch(topic) for pattern in settings.excluded(values, "topics"))


def errors(definition, **props):
    values = settings.validated(definition, CLUSTERS | {name.replace("_", "."): value for name, value in props.items()})
    return {value.name: value.errors for value in values if value.errors}


def test_a_topic_is_left_out_by_the_former_name_of_the_setting_as_well():
    assert leaves_out("secret.x", topics_blacklist="secret.*")
    assert not leaves_out("a.internal", topics_blacklist="secret.*")
    assert leaves_out("a.internal")


def test_the_present_name_counts_where_both_are_set():
    assert not leaves_out("secret.x", topics_blacklist="secret.*", topics_exclude="other")


@pytest.mark.parametrize(
    ("definition", "key", "own"),
    [
        (settings.SOURCE, "topic.filter.class", "DefaultTopicFilter"),
        (settings.SOURCE, "config.property.filter.class", "DefaultConfigPropertyFilter"),
        (settings.CHECKPOINT, "group.filter.class", "DefaultGroupFilter"),
    ],
)
def test_a_filter_of_somebodys_own_is_refused_as_it_would_leave_out_nothing(definition, key, own):
    name = key.replace(".", "_")
    assert errors(definition, **{name: f"org.apache.kafka.connect.mirror.{own}"}) == {}
    assert f"only {own} is there" in errors(definition, **{name: "com.example.Mine"})[key][0]


def test_topics_of_a_mirror_have_replicas_of_their_own_or_those_of_copies():
    values = settings.CHECKPOINT.parse(
        CLUSTERS | {"replication.factor": "3", "checkpoints.topic.replication.factor": "1"}
    )
    assert settings.replicas_of(values, "checkpoints") == 1
    assert settings.replicas_of(settings.HEARTBEAT.parse(CLUSTERS | {"replication.factor": "3"}), "heartbeats") == 3


@pytest.mark.parametrize(
    ("connector", "key"),
    [
        (MirrorCheckpointConnector, "emit.checkpoints.enabled"),
        (MirrorHeartbeatConnector, "emit.heartbeats.enabled"),
    ],
)
def test_a_connector_that_is_to_emit_nothing_has_no_task(connector, key):
    for value, tasks in (("true", 1), ("false", 0)):
        made = connector()
        made.start(CLUSTERS | {key: value}, None)
        assert len(made.task_configs(1)) == tasks
