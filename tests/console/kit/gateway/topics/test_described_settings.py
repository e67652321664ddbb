"""Settings of a topic as a broker describes them: its default, in the topic's unit, and its documentation."""

from broker.protocol.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym
from console.kit.gateway.topics.settings import described_setting

TOPIC, ALL_BROKERS, DEFAULT = 1, 3, 5


def described(name: str, value: str, source: int, *synonyms: tuple[str, str, int], documentation: str = ""):
    return described_setting(
        DescribeConfigsResourceResult(
            name=name,
            value=value,
            read_only=False,
            config_source=source,
            is_sensitive=False,
            synonyms=[
                DescribeConfigsSynonym(name=name, value=value, source=source) for name, value, source in synonyms
            ],
            documentation=documentation,
        )
    )


def test_what_is_inherited_is_told_in_the_unit_of_the_topics_key():
    hours = ("log.retention.hours", "168", DEFAULT)
    setting = described("retention.ms", "1", TOPIC, ("retention.ms", "1", TOPIC), hours)
    assert (setting.source, setting.default, setting.inherited) == ("topic", "604800000", "604800000")
    minutes = ("log.retention.minutes", "60", ALL_BROKERS)
    setting = described("retention.ms", "1", TOPIC, ("retention.ms", "1", TOPIC), minutes, hours)
    assert (setting.default, setting.inherited) == ("604800000", "3600000")


def test_a_key_of_a_newer_kafka_has_the_brokers_documentation_without_its_tags():
    setting = described("a.key.of.tomorrow", "7", DEFAULT, documentation="See <code>x</code>, if 1 < 2.")
    assert (setting.default, setting.meaning) == ("7", "See x, if 1 < 2.")


def test_a_key_of_our_table_keeps_our_meaning():
    assert "Kafka says" not in described("retention.ms", "1", DEFAULT, documentation="Kafka says").meaning


def test_a_default_that_the_cluster_told_of_another_topic_counts_before_our_table():
    entry = DescribeConfigsResourceResult(
        name="local.retention.ms", value="5", read_only=False, config_source=1, is_sensitive=False
    )
    assert described_setting(entry, {"local.retention.ms": "77"}).default == "77"
