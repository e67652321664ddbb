"""KIP-158 as rules: which topics are made how."""

import pytest

from broker.connect.api import ConfigError
from broker.connect.tasks.topic_creation import NewTopicRule, read_topic_rules

DEFAULT = {"topic.creation.default.partitions": "4", "topic.creation.default.replication.factor": "-1"}


def test_the_first_group_that_takes_a_topic_says_how_and_else_the_default():
    rules = read_topic_rules(
        {
            **DEFAULT,
            "topic.creation.groups": "compacted, wide",
            "topic.creation.compacted.include": "state.*, last",
            "topic.creation.compacted.exclude": "state-old",
            "topic.creation.compacted.cleanup.policy": "compact",
            "topic.creation.wide.include": ".*",
            "topic.creation.wide.exclude": "narrow",
            "topic.creation.wide.partitions": "32",
            "topic.creation.wide.replication.factor": "2",
        }
    )
    assert rules.rule_of("state-1") == NewTopicRule(4, -1, {"cleanup.policy": "compact"})
    assert rules.rule_of("state-old") == NewTopicRule(32, 2)
    assert rules.rule_of("narrow") == NewTopicRule(4, -1)


def test_who_says_nothing_leaves_it_to_the_brokers():
    assert read_topic_rules({"topic": "t"}) is None


@pytest.mark.parametrize(
    ("props", "name"),
    [
        ({"topic.creation.default.partitions": "1"}, "topic.creation.default.replication.factor"),
        ({**DEFAULT, "topic.creation.default.partitions": "0"}, "topic.creation.default.partitions"),
        ({**DEFAULT, "topic.creation.groups": "g"}, "topic.creation.g.include"),
        ({**DEFAULT, "topic.creation.groups": "g", "topic.creation.g.include": "("}, "topic.creation.g.include"),
    ],
)
def test_what_is_wrong_is_named(props, name):
    with pytest.raises(ConfigError) as raised:
        read_topic_rules(props)
    assert raised.value.name == name
