"""Which keys of a broker may change while it runs, and what counts then."""

import pytest

from broker.config import dynamic, without_effect
from broker.config.broker import BY_NAME, read_broker_config
from broker.config.definition import ConfigError, ConfigSource, UpdateMode
from broker.config.dynamic import check_broker_change, read_broker_change, update_mode
from broker.config.network import HostLimit
from broker.config.resolution import SYNONYMS, broker_settings_of, settings_of, topic_values
from broker.config.topic import BY_NAME as TOPIC_KEYS


def broker(*lines: str):
    return read_broker_config("\n".join(["broker.id=1", "zookeeper.connect=z:1", *lines]))


def places(name: str, config) -> list[tuple[str, str, ConfigSource]]:
    _, settings = broker_settings_of(BY_NAME[name], config)
    return [(item.name, item.text, item.source) for item in settings]


def test_every_key_that_may_change_is_a_key():
    assert BY_NAME.keys() >= dynamic.CLUSTER_WIDE | dynamic.PER_BROKER


def test_what_may_change_without_effect_has_none():
    """A key that gets an effect leaves both lists; `CLUSTER_WIDE` says then whether it may change."""
    assert {key.name for key in without_effect.BROKER_KEYS} >= without_effect.DYNAMIC


def test_defaults_of_topics_may_change_but_for_coarse_units():
    """Kafka's own exceptions: hours and minutes are read at the start only, and so is the format of old messages."""
    names = {name for synonyms in SYNONYMS.values() for name, _ in synonyms}
    coarse = {"log.retention.minutes", "log.retention.hours", "log.roll.hours", "log.roll.jitter.hours"}
    read_only = {name for name in names if update_mode(name) is UpdateMode.READ_ONLY}
    assert read_only == coarse | {"log.message.format.version"}


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("log.retention.hours", "1", "restart"),
        ("broker.id", "2", "restart"),
        ("num.io.threads", "many", "Not a number of type INT"),
        ("num.replica.alter.log.dirs.threads", "2", "restart"),
        ("log.segment.bytes", "many", "Not a number of type INT"),
        ("log.segment.bytes", str(2**31), "Not a number of type INT"),
        ("log.cleaner.min.cleanable.ratio", "NaN", "at least"),
        ("log.cleaner.min.cleanable.ratio", "0.5_0", "a number"),
        ("max.connections.per.ip.overrides", "nowhere:3", "valid value"),
    ],
)
@pytest.mark.parametrize("is_for_all", [True, False])
def test_a_change_that_cannot_be_says_why(name, text, word, is_for_all):
    with pytest.raises(ConfigError, match=word) as refused:
        check_broker_change({name: text}, is_for_all=is_for_all)
    assert name in refused.value.message


def test_one_brokers_own_key_is_not_set_for_all(monkeypatch):
    monkeypatch.setattr(dynamic, "PER_BROKER", frozenset({"broker.rack"}))
    assert read_broker_change("broker.rack", "a", is_for_all=False) == "a"
    with pytest.raises(ConfigError, match="name the broker"):
        read_broker_change("broker.rack", "a", is_for_all=True)


def test_a_key_nobody_knows_is_kept_as_it_was_said():
    assert read_broker_change("my.plugin.colour", "red", is_for_all=True) == "red"
    config = broker()
    assert not config.set_dynamic({"my.plugin.colour": "red"}, {})
    assert config.layers[ConfigSource.BROKER] == {"my.plugin.colour": "red"}


def test_limits_of_single_addresses_are_read():
    read = BY_NAME["max.connections.per.ip.overrides"].read
    assert read("127.0.0.1:5, [::1]:6") == (HostLimit("127.0.0.1", 5), HostLimit("::1", 6))


def test_one_broker_outweighs_all_and_all_outweigh_the_file():
    config = broker("log.segment.bytes=100")
    assert config.set_dynamic({}, {"log.segment.bytes": 200})
    assert config.log_segment_bytes == 200
    assert config.set_dynamic({"log.segment.bytes": 300}, {"log.segment.bytes": 200})
    assert config.log_segment_bytes == 300
    assert places("log.segment.bytes", config) == [
        ("log.segment.bytes", "300", ConfigSource.BROKER),
        ("log.segment.bytes", "200", ConfigSource.CLUSTER),
        ("log.segment.bytes", "100", ConfigSource.BROKER_FILE),
        ("log.segment.bytes", "1073741824", ConfigSource.DEFAULT),
    ]
    assert config.set_dynamic({}, {})
    assert config.log_segment_bytes == 100


def test_what_the_file_says_is_known_whatever_counts():
    config = broker("unclean.leader.election.enable=false")
    config.set_dynamic({}, {"unclean.leader.election.enable": True})
    assert config.unclean_leader_election_enable
    assert not config.at_start["unclean_leader_election_enable"]


def test_setting_what_counts_anyway_changes_nothing():
    config = broker("log.segment.bytes=100")
    assert not config.set_dynamic({}, {"log.segment.bytes": 100})


def test_a_topic_without_a_word_follows_its_brokers():
    config = broker("log.retention.hours=5")
    config.set_dynamic({"log.segment.bytes": 300}, {"log.retention.ms": 7})
    assert topic_values({}, config)["retention_ms"] == 7
    assert topic_values({"retention.ms": "8"}, config)["retention_ms"] == 8
    sources = [key.source for key in settings_of(TOPIC_KEYS["retention.ms"], {}, config)]
    assert sources == [ConfigSource.CLUSTER, ConfigSource.BROKER_FILE, ConfigSource.DEFAULT]


def test_hours_tell_of_the_milliseconds_that_count_instead():
    config = broker("log.retention.hours=5")
    config.set_dynamic({}, {"log.retention.ms": 7})
    counts, _ = broker_settings_of(BY_NAME["log.retention.hours"], config)
    assert (counts.text, counts.source) == ("5", ConfigSource.BROKER_FILE)
    assert places("log.retention.hours", config)[0] == ("log.retention.ms", "7", ConfigSource.CLUSTER)
