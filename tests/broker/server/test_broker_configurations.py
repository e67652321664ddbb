"""AlterConfigs, IncrementalAlterConfigs and DescribeConfigs of brokers, over a socket."""

import pytest

from broker.common.errors import ErrorCode
from broker.config.definition import ConfigSource, ConfigType, Password
from broker.handlers.config_resources import ConfigResourceType
from broker.protocol.messages import alter_configs
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from tests.broker.server.test_bad_input import batch_of, produce


def altering(name: str, **values: str) -> alter_configs.AlterConfigsRequest:
    configs = [alter_configs.AlterableConfig(name=key.replace("_", "."), value=value) for key, value in values.items()]
    resource = alter_configs.AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER, resource_name=name, configs=configs
    )
    return alter_configs.AlterConfigsRequest(resources=[resource])


def changing(name: str, key: str, value: str | None, operation=ConfigOperation.SET, validate_only=False):
    config = AlterableConfig(name=key, config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=ConfigResourceType.BROKER, resource_name=name, configs=[config])
    return IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)


async def described(client, name: str, *keys: str):
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.BROKER, resource_name=name, configuration_keys=list(keys) or None
    )
    response = await client.ask(DescribeConfigsRequest(resources=[resource], include_synonyms=True), 4)
    assert response.results[0].error_code == ErrorCode.NONE
    return {config.name: config for config in response.results[0].configs}


async def asked_and_done(client, request) -> None:
    response = (await client.ask(request, 1)).responses[0]
    assert (response.error_code, response.error_message) == (ErrorCode.NONE, None)


async def test_a_change_is_described_with_its_source_and_synonyms(served):
    client = await served.client()
    await asked_and_done(client, changing("", "log.segment.bytes", "5000"))
    await asked_and_done(client, changing("1", "log.segment.bytes", "6000"))
    entry = (await described(client, "1"))["log.segment.bytes"]
    assert (entry.value, entry.config_source, entry.read_only) == ("6000", ConfigSource.BROKER, False)
    assert [(synonym.value, synonym.source) for synonym in entry.synonyms] == [
        ("6000", ConfigSource.BROKER),
        ("5000", ConfigSource.CLUSTER),
        ("1073741824", ConfigSource.DEFAULT),
    ]
    await asked_and_done(client, changing("1", "log.segment.bytes", None, ConfigOperation.DELETE))
    assert (await described(client, "1"))["log.segment.bytes"].value == "5000"


async def test_for_all_brokers_only_what_is_set_is_described(served):
    client = await served.client()
    assert await described(client, "") == {}
    await asked_and_done(client, changing("", "max.connections", "50"))
    assert {name: item.value for name, item in (await described(client, "")).items()} == {"max.connections": "50"}


async def test_keys_of_the_file_and_of_the_start_are_told_apart(served):
    configs = await described(await served.client(), "1", "broker.id", "log.retention.ms", "num.partitions")
    assert configs["broker.id"].config_source == ConfigSource.BROKER_FILE
    assert configs["num.partitions"].config_source == ConfigSource.DEFAULT
    assert {name: item.read_only for name, item in configs.items()} == {
        "broker.id": True,
        "num.partitions": True,
        "log.retention.ms": False,
    }


@pytest.mark.parametrize("name", ["", "1"])
async def test_a_topic_that_says_nothing_follows_at_once(served, name):
    served.lead("t")
    client = await served.client()
    await asked_and_done(client, changing(name, "message.max.bytes", "100"))
    refused = (await client.ask(produce(batch_of(b"x" * 500)), 9)).responses[0].partition_responses[0]
    assert refused.error_code == ErrorCode.MESSAGE_TOO_LARGE
    await asked_and_done(client, changing(name, "message.max.bytes", None, ConfigOperation.DELETE))
    written = (await client.ask(produce(batch_of(b"x" * 500)), 9)).responses[0].partition_responses[0]
    assert written.error_code == ErrorCode.NONE


async def test_a_list_is_appended_to_what_counts_at_present(served):
    client = await served.client()
    await asked_and_done(client, changing("", "log.cleanup.policy", "compact", ConfigOperation.APPEND))
    assert (await described(client, "1"))["log.cleanup.policy"].value == "delete,compact"


async def test_alter_configs_replaces_all_that_is_set(served):
    client = await served.client()
    await asked_and_done(client, altering("1", max_connections="5", log_retention_ms="7"))
    await asked_and_done(client, altering("1", log_retention_ms="8"))
    configs = await described(client, "1")
    assert configs["max.connections"].config_source == ConfigSource.DEFAULT
    assert configs["log.retention.ms"].value == "8"


async def test_only_asking_whether_it_can_be_changes_nothing(served):
    client = await served.client()
    await asked_and_done(client, changing("1", "max.connections", "5", validate_only=True))
    assert (await described(client, "1"))["max.connections"].config_source == ConfigSource.DEFAULT


async def test_deleting_a_key_nobody_knows_or_has_set_clears_the_others_of_the_request(served):
    """As kafka-reassign-partitions --verify does with its three throttles."""
    client = await served.client()
    throttles = ["leader.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second", "colour"]
    for name in throttles[:2]:
        await asked_and_done(client, changing("1", name, "1000"))
    request = changing("1", throttles[0], None, ConfigOperation.DELETE)
    request.resources[0].configs += [
        AlterableConfig(name=name, config_operation=ConfigOperation.DELETE, value=None) for name in throttles[1:]
    ]
    await asked_and_done(client, request)
    assert served.store.configs["1"] == {}


async def test_keys_without_effect_are_taken_and_told_once_in_the_log(served, capsys):
    client = await served.client()
    for value in ("4", "5"):
        await asked_and_done(client, changing("1", "log.cleaner.threads", value))
    entry = (await described(client, "1"))["log.cleaner.threads"]
    assert (entry.value, entry.read_only) == ("5", False)
    lines = [line for line in capsys.readouterr().out.splitlines() if "without effect" in line]
    assert [line.split("key=")[1].split()[0] for line in lines] == ["log.cleaner.threads"]


@pytest.mark.parametrize("name", ["", "1"])
async def test_a_key_nobody_knows_is_taken_and_shown_without_its_value(served, name):
    """It may be a plug-in's, and a secret: as in Kafka."""
    client = await served.client()
    await asked_and_done(client, changing(name, "colour", "red"))
    entry = (await described(client, name))["colour"]
    assert (entry.value, entry.is_sensitive, [synonym.value for synonym in entry.synonyms][:1]) == (None, True, [None])
    assert served.store.configs["<default>" if name == "" else name] == {"colour": "red"}


async def test_replacing_all_that_is_set_takes_keys_of_topics_and_of_nobody(served):
    await asked_and_done(await served.client(), altering("1", retention_ms="5", colour="red"))
    assert served.store.configs["1"] == {"retention.ms": "5", "colour": "red"}


async def test_a_topics_key_nobody_knows_can_be_deleted_and_not_set(served):
    served.tell_of("t")
    client = await served.client()
    for operation, code in ((ConfigOperation.DELETE, ErrorCode.NONE), (ConfigOperation.SET, ErrorCode.INVALID_CONFIG)):
        request = changing("t", "colour", "red", operation)
        request.resources[0].resource_type = ConfigResourceType.TOPIC
        assert (await client.ask(request, 1)).responses[0].error_code == code


async def test_addresses_nobody_set_are_null(served):
    assert (await described(await served.client(), "1"))["advertised.listeners"].value is None


async def test_a_description_without_an_error_has_no_message(served):
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.BROKER, resource_name="1", configuration_keys=None
    )
    response = await (await served.client()).ask(DescribeConfigsRequest(resources=[resource]), 4)
    assert response.results[0].error_message is None


@pytest.mark.parametrize(
    ("name", "key", "value", "code", "words"),
    [
        ("2", "max.connections", "5", ErrorCode.INVALID_REQUEST, "Unexpected broker id, expected 1, but received 2"),
        ("1", "broker.id", "5", ErrorCode.INVALID_REQUEST, "restart it"),
        ("", "log.retention.hours", "5", ErrorCode.INVALID_REQUEST, "restart it"),
        ("", "listeners", "PLAINTEXT://127.0.0.1:0", ErrorCode.INVALID_REQUEST, "name the broker"),
        ("1", "ssl.keystore.location", "/k", ErrorCode.INVALID_REQUEST, "set listener.name.<listener>.ssl.keystore."),
        ("", "listener.name.plaintext.ssl.keystore.location", "/k", ErrorCode.INVALID_REQUEST, "name the broker"),
        ("1", "listener.name.plaintext.ssl.keystore.password", "hunter2", ErrorCode.INVALID_REQUEST, "is a secret"),
        ("1", "max.connections", "-1", ErrorCode.INVALID_CONFIG, "at least 0"),
    ],
)
async def test_a_change_that_cannot_be_is_refused_with_a_reason(served, name, key, value, code, words):
    client = await served.client()
    response = (await client.ask(changing(name, key, value), 1)).responses[0]
    assert response.error_code == code
    assert words in response.error_message
    assert "hunter2" not in response.error_message


async def test_another_broker_is_refused_before_an_operation_that_is_none(served):
    client = await served.client()
    for name, words in (("2", "Unexpected broker id, expected 1, but received 2"), ("1", "Unknown operations type 9")):
        response = (await client.ask(changing(name, "max.connections", "5", 9), 1)).responses[0]
        assert (response.error_code, response.error_message) == (ErrorCode.INVALID_REQUEST, words)


async def test_topics_together_have_no_configuration(served):
    request = changing("", "retention.ms", "5")
    request.resources[0].resource_type = ConfigResourceType.TOPIC
    response = (await (await served.client()).ask(request, 1)).responses[0]
    assert (response.error_code, response.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Default topic resources are not allowed.",
    )


@pytest.mark.parametrize("name", ["", "a b"])
async def test_what_no_topic_is_called_is_refused_in_kafkas_words(served, name):
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.TOPIC, resource_name=name, configuration_keys=None
    )
    response = await (await served.client()).ask(DescribeConfigsRequest(resources=[resource]), 4)
    assert response.results[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert response.results[0].error_message.startswith("Topic name is invalid: ")


async def test_what_is_no_list_takes_nothing_more(served):
    client = await served.client()
    request = changing("1", "max.connections", "5", ConfigOperation.APPEND)
    response = (await client.ask(request, 1)).responses[0]
    sentence = "Config value append is not allowed for config key: max.connections"
    assert (response.error_code, response.error_message) == (ErrorCode.INVALID_CONFIG, sentence)


async def test_a_secret_is_described_without_its_value(served):
    secrets = {"listener.name.plaintext.plain.sasl.jaas.config": Password("hunter2")}
    config = served.config
    config.set_dynamic({"ssl.key.password": Password("hunter2"), **secrets}, {})
    result = await described(await served.client(), "1")
    for name in ("ssl.key.password", "listener.name.plaintext.plain.sasl.jaas.config", "ssl.keystore.key"):
        entry = result[name]
        assert (entry.value, entry.is_sensitive, entry.config_type) == (None, True, ConfigType.PASSWORD)
        assert {synonym.value for synonym in entry.synonyms} <= {None}


async def test_what_is_said_for_one_listener_is_described(served):
    client = await served.client()
    await asked_and_done(client, changing("", "listener.name.plaintext.max.connections", "7"))
    entry = (await described(client, "1"))["listener.name.plaintext.max.connections"]
    assert (entry.value, entry.config_source, entry.is_sensitive) == ("7", ConfigSource.CLUSTER, False)
    assert (entry.config_type, entry.read_only) == (ConfigType.INT, False)
