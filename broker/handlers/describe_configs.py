"""DescribeConfigs: every value of a topic or of this broker, with its source, synonyms, type and meaning."""

from broker.common.errors import ApiError
from broker.config import broker as broker_keys
from broker.config import topic as topic_keys
from broker.config.definition import Key
from broker.config.resolution import ConfigSource, Setting, settings_of
from broker.handlers.config_resources import ResourceType, check_broker, check_topic, unknown_resource
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


async def handle_describe_configs(request: DescribeConfigsRequest, context: RequestContext) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[await _describe(each, request, context) for each in request.resources])


async def _describe(
    asked: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=asked.resource_type, resource_name=asked.resource_name)
    try:
        described = await _settings(asked, context)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    wanted = asked.configuration_keys
    result.configs = [
        _entry(key, settings, request, context.api_version, is_read_only=asked.resource_type == ResourceType.BROKER)
        for key, settings in described
        if wanted is None or key.name in wanted
    ]
    return result


async def _settings(asked: DescribeConfigsResource, context: RequestContext) -> list[tuple[Key, list[Setting]]]:
    config = context.services.config
    if asked.resource_type == ResourceType.TOPIC:
        check_topic(asked.resource_name, context)
        overrides = await context.services.topic_configs.overrides(asked.resource_name)
        return [(key, settings_of(key, overrides, config)) for key in topic_keys.KEYS]
    if asked.resource_type == ResourceType.BROKER:
        check_broker(asked.resource_name, context)
        return [(key, _broker_settings(key, context)) for key in broker_keys.KEYS]
    raise unknown_resource(asked.resource_type)


def _broker_settings(key: Key, context: RequestContext) -> list[Setting]:
    config = context.services.config
    value = config.values[key.attribute]
    if key.name in config.given:
        return [Setting(key.name, value, ConfigSource.BROKER_FILE)]
    return [Setting(key.name, value, ConfigSource.DEFAULT)]


def _entry(
    key: Key, settings: list[Setting], request: DescribeConfigsRequest, version: int, *, is_read_only: bool
) -> DescribeConfigsResourceResult:
    counts = settings[0]
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


HANDLER = public(ApiKey.DESCRIBE_CONFIGS, 0, 4, handle_describe_configs)
