"""DescribeConfigs: every value of a topic or of this broker, or what is set for all brokers (the empty name).

Each comes with its source, synonyms, type and meaning.
"""

from typing import NamedTuple

from broker.common.errors import ApiError
from broker.config import broker as broker_keys
from broker.config import topic as topic_keys
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigSource, Key, UpdateMode
from broker.config.dynamic import update_mode
from broker.config.resolution import Setting, broker_settings_of, settings_of
from broker.handlers.config_resources import ResourceType, check_broker, check_topic, unknown_resource
from broker.handlers.handler import OF_EVERYTHING, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from broker.runtime.in_turns import in_turns


async def handle_describe_configs(request: DescribeConfigsRequest, context: RequestContext) -> DescribeConfigsResponse:
    resources = {(each.resource_type, each.resource_name): each for each in request.resources}
    turns = context.services.turns
    described = await in_turns(resources.values(), lambda each: _describe(each, request, context), turns)
    return DescribeConfigsResponse(results=described)


async def _describe(
    asked: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=asked.resource_type, resource_name=asked.resource_name)
    try:
        described = await _settings(asked, context)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    wanted = None if asked.configuration_keys is None else set(asked.configuration_keys)
    result.configs = [
        _entry(each, request, context.api_version) for each in described if wanted is None or each.key.name in wanted
    ]
    return result


class _Described(NamedTuple):
    """A key, what counts, and every place that says a value, the one that counts first."""

    key: Key
    counts: Setting
    settings: list[Setting]
    is_read_only: bool = False


async def _settings(asked: DescribeConfigsResource, context: RequestContext) -> list[_Described]:
    config = context.services.config
    if asked.resource_type == ResourceType.TOPIC:
        check_topic(asked.resource_name, context)
        overrides = await context.services.topic_configs.overrides(asked.resource_name)
        found = [(key, settings_of(key, overrides, config)) for key in topic_keys.KEYS]
        return [_Described(key, settings[0], settings) for key, settings in found]
    if asked.resource_type == ResourceType.BROKER:
        check_broker(asked.resource_name, context)
        return _of_broker(config) if asked.resource_name else _of_all_brokers(config)
    raise unknown_resource(asked.resource_type)


def _of_broker(config: BrokerConfig) -> list[_Described]:
    return [
        _Described(key, *broker_settings_of(key, config), update_mode(key.name) is UpdateMode.READ_ONLY)
        for key in broker_keys.KEYS
    ]


def _of_all_brokers(config: BrokerConfig) -> list[_Described]:
    """Only what is set, as Kafka answers: the rest is each broker's own."""
    settings = [
        Setting(name, value, ConfigSource.CLUSTER) for name, value in config.layers[ConfigSource.CLUSTER].items()
    ]
    return [_Described(broker_keys.BY_NAME[each.name], each, [each]) for each in settings]


def _entry(described: _Described, request: DescribeConfigsRequest, version: int) -> DescribeConfigsResourceResult:
    key, counts, settings, is_read_only = described
    synonyms = [DescribeConfigsSynonym(name=each.name, value=each.text, source=each.source) for each in settings]
    return DescribeConfigsResourceResult(
        name=key.name,
        value=counts.text,
        read_only=is_read_only,
        is_default=version == 0 and counts.source is ConfigSource.DEFAULT,
        config_source=counts.source,
        synonyms=synonyms if request.include_synonyms else [],
        config_type=key.config_type,
        documentation=key.meaning if request.include_documentation else None,
    )


HANDLER = public(ApiKey.DESCRIBE_CONFIGS, 0, 4, handle_describe_configs, budget=OF_EVERYTHING)
