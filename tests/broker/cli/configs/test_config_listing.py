import pytest

from broker.cli.configs.config_entities import Entity
from broker.cli.configs.config_listing import (
    double_text,
    head,
    own,
    quota_line,
    scram_line,
    setting_line,
    zookeeper_line,
    zookeeper_quota_line,
)
from broker.protocol.messages.describe_client_quotas import EntityData, EntryData, ValueData
from broker.protocol.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsSynonym
from broker.protocol.messages.describe_user_scram_credentials import CredentialInfo, DescribeUserScramCredentialsResult


def setting(name, value, source):
    synonyms = [DescribeConfigsSynonym(name=name, value=value, source=source)]
    return DescribeConfigsResourceResult(name=name, value=value, config_source=source, synonyms=synonyms)


def test_a_setting_is_told_with_where_it_comes_from():
    described = setting("retention.ms", "3600000", 1)
    described.synonyms.append(DescribeConfigsSynonym(name="log.retention.hours", value="168", source=5))
    assert setting_line(described) == (
        "  retention.ms=3600000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=3600000, "
        "DEFAULT_CONFIG:log.retention.hours=168}"
    )
    hidden = DescribeConfigsResourceResult(name="password", value=None, is_sensitive=True, config_source=2, synonyms=[])
    assert setting_line(hidden) == "  password=null sensitive=true synonyms={}"


@pytest.mark.parametrize(
    ("entity", "names"),
    [
        (Entity("topics", "t"), ["of-topic"]),
        (Entity("brokers", "1"), ["of-broker"]),
        (Entity("brokers", ""), ["of-all"]),
        (Entity("broker-loggers", "1"), ["by-default", "of-all", "of-broker", "of-file", "of-topic"]),
    ],
)
def test_without_all_only_what_is_set_for_the_entity_itself_is_told(entity, names):
    settings = [
        setting(name, "v", source)
        for source, name in enumerate(["of-topic", "of-broker", "of-all", "of-file", "by-default"], 1)
    ]
    assert [item.name for item in own(entity, settings)] == names


def test_heads_name_the_entity():
    assert head(Entity("topics", "t"), of_all=False) == "Dynamic configs for topic t are:"
    assert head(Entity("brokers", "1"), of_all=True) == "All configs for broker 1 are:"
    assert head(Entity("brokers", ""), of_all=False) == "Default configs for brokers in the cluster are:"


def test_the_zookeeper_generation_reads_one_line():
    settings = [setting("a", "1", 1), setting("b", "2", 1)]
    assert zookeeper_line(Entity("topics", "t"), settings) == "Configs for topic 't' are a=1,b=2"
    assert zookeeper_line(Entity("brokers", ""), []) == "Configs for default brokers are "


def quotas(values, **entity):
    return EntryData(
        entity=[EntityData(entity_type=type_.replace("_", "-"), entity_name=name) for type_, name in entity.items()],
        values=[ValueData(key=key, value=value) for key, value in values.items()],
    )


def test_quotas_are_told_in_the_words_of_the_zookeeper_generation():
    pair = quotas({"request_percentage": 20.0, "producer_byte_rate": 1e7}, client_id=None, user="alice")
    assert zookeeper_quota_line(pair) == (
        "Configs for user-principal 'alice', default client-id are producer_byte_rate=10000000,request_percentage=20.0"
    )
    address = quotas({"connection_creation_rate": 5.0}, ip="1.2.3.4")
    assert zookeeper_quota_line(address) == "Configs for ips '1.2.3.4' are connection_creation_rate=5"


def test_quotas_are_told_as_doubles():
    both = quotas({"producer_byte_rate": 1024.0, "consumer_byte_rate": 2048.0}, user="alice")
    assert quota_line(both) == (
        "Quota configs for user-principal 'alice' are consumer_byte_rate=2048.0, producer_byte_rate=1024.0"
    )
    default = quotas({"request_percentage": 50.0}, client_id=None)
    assert quota_line(default) == "Quota configs for the default client-id are request_percentage=50.0"
    pair = quotas({"request_percentage": 20.0}, client_id="app", user="alice")
    assert quota_line(pair) == ("Quota configs for user-principal 'alice', client-id 'app' are request_percentage=20.0")


def test_doubles_are_written_as_java_writes_them():
    assert [double_text(item) for item in (0.0, 10.0, 0.001, 9999999.0, 1e7, 10485760.0, 0.00012, -2e9)] == [
        "0.0", "10.0", "0.001", "9999999.0", "1.0E7", "1.048576E7", "1.2E-4", "-2.0E9"
    ]  # fmt: skip


def test_credentials_are_told_without_their_secret():
    result = DescribeUserScramCredentialsResult(
        user="bob", credential_infos=[CredentialInfo(mechanism=1, iterations=8192)]
    )
    assert scram_line(result) == ("SCRAM credential configs for user-principal 'bob' are SCRAM-SHA-256=iterations=8192")
