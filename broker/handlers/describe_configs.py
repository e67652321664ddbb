"""DescribeConfigs: every value of a topic, a group or this broker, or what is set for all brokers (the empty name).

Each comes with its source, synonyms, type and meaning.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from broker.common.errors import ApiError
from broker.config import broker as broker_keys
from broker.config import client_metrics as client_metrics_keys
from broker.config import group as group_keys
from broker.config import topic as topic_keys
from broker.config.broker import BrokerConfig
from broker.config.definition import ConfigSource, ConfigType, Key, UpdateMode
from broker.config.dynamic import update_mode
from broker.config.group import group_settings_of
from broker.config.resolution import Setting, broker_settings_of, listed_synonyms, settings_of
from broker.handlers.broker_loggers import describe_loggers
from broker.handlers.config_resources import (
    ConfigResourceType,
    check_broker,
    check_topic,
    require_config,
    unknown_resource,
)
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import made_when_encoded
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.topic_admin import check_topic_name
from broker.security.operations import AclOperation


async def handle_describe_configs(request: DescribeConfigsRequest, context: RequestContext) -> DescribeConfigsResponse:
    resources = {(resource.resource_type, resource.resource_name): resource for resource in request.resources}
    turns = context.services.turns
    described = await in_turns(resources.values(), lambda turn: _describe(turn, request, context), turns)
    return DescribeConfigsResponse(results=described)


async def _describe(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, context: RequestContext
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    wanted = set(resource.configuration_keys or ()) or None  # as to Kafka, none named means all
    try:
        require_config(AclOperation.DESCRIBE_CONFIGS, resource.resource_type, resource.resource_name, context)
        if resource.resource_type == ConfigResourceType.BROKER_LOGGER:
            loggers = describe_loggers(resource.resource_name, context)
            result.configs = [logger for logger in loggers if wanted is None or logger.name in wanted]
            return result
        keys, describe = await _settings(resource, context)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
        return result
    keys = [key for key in keys if wanted is None or key.name in wanted]
    result.configs = made_when_encoded(keys, lambda key: _entry(describe(key), request, context.api_version))
    return result


class _Described(NamedTuple):
    """A key, what counts, and every place that says a value and is told, the one that counts first."""

    key: Key
    counts: Setting
    synonyms: list[Setting]
    is_read_only: bool = False


async def _settings(
    resource: DescribeConfigsResource, context: RequestContext
) -> tuple[Collection[Key], Callable[[Key], _Described]]:
    """Return the keys of the resource, and a function that describes one."""
    config = context.services.config
    if resource.resource_type == ConfigResourceType.TOPIC:
        check_topic_name(resource.resource_name)
        check_topic(resource.resource_name, context)
        overrides = await context.services.topic_configs.overrides(resource.resource_name)
        return topic_keys.KEYS, lambda key: _of_topic(key, overrides, config)
    if resource.resource_type == ConfigResourceType.CLIENT_METRICS:
        own = await context.services.telemetry.subscriptions.overrides(resource.resource_name)
        return client_metrics_keys.KEYS if own else (), lambda key: _of_subscription(key, own)
    if resource.resource_type == ConfigResourceType.BROKER:
        check_broker(resource.resource_name, context, "Broker", " or empty string")
        if resource.resource_name:
            return [*broker_keys.KEYS, *_of_plug_ins(config)], lambda key: _of_broker(key, config)
        set_for_all = dict(config.layers[ConfigSource.CLUSTER])
        return list(map(_broker_key, set_for_all)), lambda key: _of_all_brokers(key, set_for_all)
    if resource.resource_type == ConfigResourceType.GROUP:
        overrides = await context.services.group_configs.overrides(resource.resource_name)
        return group_keys.KEYS, lambda key: _of_group(key, overrides, config)
    raise unknown_resource(resource.resource_type)


def _of_group(key: Key, overrides: dict[str, str], config: BrokerConfig) -> _Described:
    settings = group_settings_of(key, overrides, config)
    return _Described(key, settings[0], settings)


def _of_topic(key: Key, overrides: dict[str, str], config: BrokerConfig) -> _Described:
    settings = settings_of(key, overrides, config)
    return _Described(key, settings[0], listed_synonyms(key, settings))


def _of_subscription(key: Key, own: dict[str, str]) -> _Described:
    default = Setting(key.name, key.default, ConfigSource.DEFAULT)
    if key.name not in own:
        return _Described(key, default, [default])
    setting = Setting(key.name, key.read(own[key.name]), ConfigSource.CLIENT_METRICS)
    return _Described(key, setting, [setting, default])


def _broker_key(name: str) -> Key:
    """Return the key, also for an unknown name, whose value may then be a secret."""
    return broker_keys.key_of(name) or Key(name, str, None, "Unknown to this broker.", has_effect=False)


def _of_plug_ins(config: BrokerConfig) -> list[Key]:
    """Return settings that are set but unknown, as Kafka describes those of plug-ins."""
    names = {name for values in config.layers.values() for name in values}
    return [_broker_key(name) for name in sorted(names - broker_keys.BY_NAME.keys())]


def _of_broker(key: Key, config: BrokerConfig) -> _Described:
    counts, settings = broker_settings_of(key, config)
    is_told = [setting for setting in settings if setting.value is not None]
    return _Described(key, counts, is_told, update_mode(key.name) is UpdateMode.READ_ONLY)


def _of_all_brokers(key: Key, set_for_all: dict[str, str]) -> _Described:
    """Return only values that are set, as Kafka does: the rest is each broker's own."""
    setting = Setting(key.name, set_for_all[key.name], ConfigSource.CLUSTER)
    return _Described(key, setting, [setting])


def _entry(described: _Described, request: DescribeConfigsRequest, version: int) -> DescribeConfigsResourceResult:
    key, counts, settings, is_read_only = described
    is_told = key.config_type is not ConfigType.PASSWORD and _is_known(key)
    synonyms = [
        DescribeConfigsSynonym(
            name=setting.name, value=setting.own_unit_text if is_told else None, source=setting.source
        )
        for setting in settings
    ]
    return DescribeConfigsResourceResult(
        name=key.name,
        value=counts.text if is_told else None,
        is_sensitive=not is_told,
        read_only=is_read_only,
        is_default=version == 0 and counts.source is ConfigSource.DEFAULT,
        config_source=counts.source,
        synonyms=synonyms if request.include_synonyms else [],
        config_type=key.config_type if _is_known(key) else ConfigType.UNKNOWN,
        documentation=key.meaning if request.include_documentation else None,
    )


def _is_known(key: Key) -> bool:
    by_name = (topic_keys.BY_NAME, group_keys.BY_NAME, client_metrics_keys.BY_NAME)
    return any(key.name in keys for keys in by_name) or broker_keys.key_of(key.name) is not None


HANDLER = public(ApiKey.DESCRIBE_CONFIGS, 0, 4, handle_describe_configs, budget=OF_EVERYTHING)
