import pytest

from broker.config.broker import BY_NAME as BROKER_KEYS
from broker.config.broker import read_broker_config
from broker.config.resolution import SYNONYMS, ConfigSource, listed_synonyms, settings_of, topic_values
from broker.config.topic import BY_NAME, KEYS

HOUR_MS = 3_600_000


def broker(*lines: str):
    return read_broker_config("\n".join(["broker.id=1", "zookeeper.connect=z:1", *lines]))


def sources(name: str, overrides: dict, *lines: str) -> list[tuple[str, str, ConfigSource]]:
    return [
        (override.name, override.text, override.source)
        for override in settings_of(BY_NAME[name], overrides, broker(*lines))
    ]


def test_without_a_word_from_anybody_kafkas_default_counts():
    assert topic_values({}, broker())["retention_ms"] == 168 * HOUR_MS


def test_the_topic_outweighs_the_broker_and_the_broker_the_default():
    assert sources("segment.bytes", {"segment.bytes": "100"}, "log.segment.bytes=200") == [
        ("segment.bytes", "100", ConfigSource.TOPIC),
        ("log.segment.bytes", "200", ConfigSource.BROKER_FILE),
        ("log.segment.bytes", "1073741824", ConfigSource.DEFAULT),
    ]


@pytest.mark.parametrize(
    ("lines", "retention_ms"),
    [
        (["log.retention.hours=2"], 2 * HOUR_MS),
        (["log.retention.hours=2", "log.retention.minutes=3"], 180_000),
        (["log.retention.hours=2", "log.retention.minutes=3", "log.retention.ms=4"], 4),
        (["log.retention.hours=-1"], -1),
    ],
)
def test_the_most_precise_unit_of_retention_wins(lines, retention_ms):
    assert topic_values({}, broker(*lines))["retention_ms"] == retention_ms


def synonyms_of(name: str, overrides: dict, *lines: str) -> list[tuple[str, str, ConfigSource]]:
    settings = settings_of(BY_NAME[name], overrides, broker(*lines))
    return [
        (synonym.name, synonym.own_unit_text, synonym.source) for synonym in listed_synonyms(BY_NAME[name], settings)
    ]


def test_hours_alone_are_no_synonym_of_milliseconds():
    """Kafka 3.8 lists none, and never a value in another unit than its name's."""
    assert synonyms_of("retention.ms", {}) == []
    assert synonyms_of("retention.ms", {}, "log.retention.hours=5") == []
    assert synonyms_of("retention.ms", {}, "log.retention.hours=5", "log.retention.ms=7") == [
        ("log.retention.ms", "7", ConfigSource.BROKER_FILE),
        ("log.retention.hours", "5", ConfigSource.BROKER_FILE),
        ("log.retention.hours", "168", ConfigSource.DEFAULT),
    ]
    assert synonyms_of("retention.ms", {"retention.ms": "9"})[0] == ("retention.ms", "9", ConfigSource.TOPIC)


def test_a_key_of_brokers_without_a_default_is_no_synonym_before_it_is_set():
    assert synonyms_of("flush.ms", {}) == []
    set_in_file = ("log.flush.interval.ms", "5", ConfigSource.BROKER_FILE)
    assert synonyms_of("flush.ms", {}, "log.flush.interval.ms=5") == [set_in_file]


def test_what_brokers_have_no_key_for_has_no_synonym_but_itself():
    name = "leader.replication.throttled.replicas"
    assert synonyms_of(name, {}) == []
    assert synonyms_of(name, {name: "*"}) == [(name, "*", ConfigSource.TOPIC)]


def test_difference_in_time_stands_for_both_bounds_where_they_are_not_set():
    values = topic_values({"message.timestamp.difference.max.ms": "5", "message.timestamp.after.max.ms": "9"}, broker())
    assert (values["message_timestamp_before_max_ms"], values["message_timestamp_after_max_ms"]) == (5, 9)
    values = topic_values({"message.timestamp.difference.max.ms": "5"}, broker())
    assert (values["message_timestamp_before_max_ms"], values["message_timestamp_after_max_ms"]) == (5, 5)


def test_every_synonym_is_a_key_of_the_broker_and_every_key_a_key_of_topics():
    assert {name for names in SYNONYMS.values() for name, _ in names} <= BROKER_KEYS.keys()
    assert SYNONYMS.keys() <= BY_NAME.keys()


def test_defaults_of_synonyms_agree():
    """A broker that says nothing and a topic that says nothing mean the same."""
    for key in KEYS:
        for name, factor in SYNONYMS.get(key.name, ()):
            default = BROKER_KEYS[name].default
            if default is not None:
                scaled = default * factor if factor > 1 else default
                assert scaled == key.default, name
