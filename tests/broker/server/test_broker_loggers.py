"""DescribeConfigs and IncrementalAlterConfigs of a broker's loggers, over a socket (KIP-412)."""

import logging

import pytest

from broker.common.errors import ErrorCode
from broker.common.logs import logger
from broker.handlers.config_resources import ConfigResourceType
from broker.protocol.messages import alter_configs
from broker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)

NAME = "broker.tests.talkative"


@pytest.fixture(autouse=True)
def talkative():
    logger(NAME)
    root_before = logging.root.level
    yield
    logging.getLogger(NAME).setLevel(logging.NOTSET)
    logging.root.setLevel(root_before)


async def described(client, name: str = "1", *keys: str):
    resource = DescribeConfigsResource(
        resource_type=ConfigResourceType.BROKER_LOGGER, resource_name=name, configuration_keys=list(keys) or None
    )
    return (await client.ask(DescribeConfigsRequest(resources=[resource]), 4)).results[0]


async def levels(client) -> dict[str, str]:
    return {config.name: config.value for config in (await described(client)).configs}


async def changed(client, *changes: tuple[str, int, str | None], broker: str = "1", validate_only: bool = False):
    configs = [AlterableConfig(name=name, config_operation=op, value=value) for name, op, value in changes]
    resource = AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER_LOGGER, resource_name=broker, configs=configs
    )
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    answer = (await client.ask(request, 1)).responses[0]
    return ErrorCode(answer.error_code), answer.error_message or ""


async def test_a_level_is_changed_while_the_broker_runs_and_taken_back(served):
    client = await served.client()
    inherited = (await levels(client))[NAME]
    assert (await changed(client, (NAME, ConfigOperation.SET, "DEBUG")))[0] is ErrorCode.NONE
    assert logging.getLogger(NAME).isEnabledFor(logging.DEBUG)
    assert (await levels(client))[NAME] == "DEBUG"
    assert (await changed(client, (NAME, ConfigOperation.DELETE, None)))[0] is ErrorCode.NONE
    assert (await levels(client))[NAME] == inherited


@pytest.mark.parametrize("level", ["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"])
async def test_every_level_of_kafka_is_told_as_it_was_set(served, level):
    client = await served.client()
    assert (await changed(client, ("root", ConfigOperation.SET, level)))[0] is ErrorCode.NONE
    assert (await levels(client))["root"] == level


async def test_only_loggers_of_ours_are_there(served):
    """What libraries tell of their requests holds passwords."""
    logging.getLogger("kazoo.client")
    client = await served.client()
    assert {name.split(".")[0] for name in await levels(client)} == {"root", "broker"}
    assert (await changed(client, ("kazoo.client", ConfigOperation.SET, "DEBUG")))[0] is ErrorCode.INVALID_CONFIG


async def test_one_logger_is_described_if_it_is_asked_for(served):
    configs = (await described(await served.client(), "1", NAME)).configs
    assert [(config.name, config.config_source, config.read_only) for config in configs] == [(NAME, 6, False)]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ((NAME, ConfigOperation.SET, "LOUD"), ErrorCode.INVALID_CONFIG),
        ((NAME, ConfigOperation.SET, None), ErrorCode.INVALID_REQUEST),
        ((NAME, ConfigOperation.APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        (("broker.nobody", ConfigOperation.SET, "INFO"), ErrorCode.INVALID_CONFIG),
        (("root", ConfigOperation.DELETE, None), ErrorCode.INVALID_REQUEST),
    ],
)
async def test_what_cannot_be_changes_nothing(served, change, code):
    client = await served.client()
    before = await levels(client)
    assert (await changed(client, change))[0] is code
    assert await levels(client) == before


async def test_only_asking_changes_nothing(served):
    client = await served.client()
    before = await levels(client)
    answer = await changed(client, (NAME, ConfigOperation.SET, "TRACE"), validate_only=True)
    assert (answer[0], await levels(client)) == (ErrorCode.NONE, before)


@pytest.mark.parametrize("broker", ["", "2", "<default>"])
async def test_each_broker_knows_its_own_loggers_only(served, broker):
    client = await served.client()
    assert (await described(client, broker)).error_code == ErrorCode.INVALID_REQUEST
    answer = await changed(client, (NAME, ConfigOperation.SET, "DEBUG"), broker=broker)
    assert answer[0] is ErrorCode.INVALID_REQUEST


async def test_replacing_all_levels_at_once_is_not_possible(served):
    """As in Kafka: AlterConfigs would forget those that are not named."""
    resource = alter_configs.AlterConfigsResource(
        resource_type=ConfigResourceType.BROKER_LOGGER,
        resource_name="1",
        configs=[alter_configs.AlterableConfig(name=NAME, value="DEBUG")],
    )
    client = await served.client()
    answer = await client.ask(alter_configs.AlterConfigsRequest(resources=[resource]), 1)
    assert answer.responses[0].error_code == ErrorCode.INVALID_REQUEST
