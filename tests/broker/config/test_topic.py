import pytest

from broker.common.errors import ErrorCode
from broker.config.definition import ConfigError, render_value
from broker.config.topic import BY_NAME, KEYS, check_topic_configs


def test_every_default_is_a_value_its_key_accepts():
    for key in KEYS:
        text = ",".join(key.default) if isinstance(key.default, tuple) else str(key.default).lower()
        assert str(key.read(str(key.default) if key.choices and not isinstance(key.default, tuple) else text)).lower()


def test_known_keys_with_good_values_pass():
    check_topic_configs({"retention.ms": "60000", "cleanup.policy": "compact,delete"})


@pytest.mark.parametrize(
    ("configs", "words"),
    [
        ({"retention.days": "7"}, "Unknown topic config name: retention.days"),
        ({"remote.storage.enable": "true"}, "there is no tiered storage"),
        ({"remote.storage.enable": "maybe"}, "is not true or false"),
        ({"errors.deadletterqueue.group.enable": "true"}, "there are no share groups"),
        ({"max.decompressed.message.bytes": "1000000"}, "max.message.bytes limits the batch as it is sent"),
        (
            {"cleanup.policy": "burn"},
            "Invalid value burn for configuration cleanup.policy: String must be one of: delete, compact",
        ),
        ({"retention.ms": "1_000"}, "Invalid value 1_000 for configuration retention.ms: Not a number of type LONG"),
        ({"retention.ms": str(2**63)}, "Not a number of type LONG"),
        ({"min.cleanable.dirty.ratio": "1.5"}, "Value must be no more than 1"),
        ({"min.cleanable.dirty.ratio": "0.5_0"}, "a number"),
    ],
)
def test_bad_configs_say_what_is_accepted(configs, words):
    with pytest.raises(ConfigError, match=words) as refused:
        check_topic_configs(configs)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_every_key_of_kafka_3_8_to_4_4_is_known():
    """Of topics, also those that Kafka 4 has no more."""
    assert len([name for name in BY_NAME if not name.startswith("barnabas.")]) == 40
    check_topic_configs(
        {
            "compression.zstd.level": "5",
            "local.retention.bytes": "-2",
            "local.retention.ms": "-2",
            "message.downconversion.enable": "false",
            "message.format.version": "3.0-IV1",
            "message.timestamp.difference.max.ms": "1000",
            "remote.copy.lag.bytes": "-1",
            "remote.copy.lag.ms": "0",
            "remote.log.copy.disable": "true",
            "remote.log.delete.on.disable": "false",
            "remote.storage.enable": "false",
            "errors.deadletterqueue.group.enable": "false",
            "max.decompressed.message.bytes": "2147483639",
            "segment.jitter.ms": "100",
        }
    )


@pytest.mark.parametrize("text", ["", "*", "0:1", "0:1,0:2,13:1001"])
def test_throttled_replicas_are_written_as_they_were_read(text):
    key = BY_NAME["leader.replication.throttled.replicas"]
    assert render_value(key.read(text)) == text


@pytest.mark.parametrize("text", ["1", "a:b", "0:1,*", "0:-1", "0:1:2"])
def test_throttled_replicas_that_name_none_are_refused(text):
    with pytest.raises(ConfigError, match=r"leader\.replication\.throttled\.replicas"):
        check_topic_configs({"leader.replication.throttled.replicas": text})
