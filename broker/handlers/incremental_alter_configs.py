"""IncrementalAlterConfigs: set, delete, append to or subtract from single values of a topic or broker (KIP-339)."""

from collections.abc import Collection

from broker.common.errors import ApiError, ErrorCode
from broker.config.definition import ConfigError, ConfigType, parse_list, render_list
from broker.handlers.broker_loggers import alter_loggers
from broker.handlers.config_resources import (
    ChangeableConfigs,
    ConfigResourceType,
    alter_each,
    changeable_configs,
    check_broker,
    check_pairs,
)
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from broker.runtime.requests.context import RequestContext


async def handle_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, context: RequestContext
) -> IncrementalAlterConfigsResponse:
    async def change(resource: AlterConfigsResource) -> None:
        await _change(resource, request.validate_only, context)

    altered = await alter_each(request.resources, change, AlterConfigsResourceResponse, context)
    return IncrementalAlterConfigsResponse(responses=altered)


async def _change(resource: AlterConfigsResource, validate_only: bool, context: RequestContext) -> None:
    given = {config.name: config.value for config in resource.configs}
    deleted = {config.name for config in resource.configs if config.config_operation == ConfigOperation.DELETE}
    check_pairs(len(resource.configs), {name: value for name, value in given.items() if name not in deleted}, deleted)
    if resource.resource_type == ConfigResourceType.BROKER:
        check_broker(resource.resource_name, context)
    if unknown := {config.config_operation for config in resource.configs} - set(ConfigOperation):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {min(unknown)}")
    if resource.resource_type == ConfigResourceType.BROKER_LOGGER:
        alter_loggers(resource, context, validate_only=validate_only)
        return
    configs = changeable_configs(resource.resource_type, resource.resource_name, context)

    def change(present: dict[str, str]) -> dict[str, str]:
        overrides = dict(present)
        for config in resource.configs:
            _apply(config, overrides, configs, is_of_broker=resource.resource_type == ConfigResourceType.BROKER)
        return overrides

    await configs.apply(change, validate_only=validate_only)


def _apply(
    config: AlterableConfig, overrides: dict[str, str], configs: ChangeableConfigs, *, is_of_broker: bool
) -> None:
    if config.config_operation == ConfigOperation.DELETE:
        overrides.pop(config.name, None)
    elif config.config_operation == ConfigOperation.SET:
        overrides[config.name] = config.value or ""
    else:
        key = configs.key_of(config.name)
        if key.config_type is not ConfigType.LIST:
            name = "SUBTRACT" if config.config_operation == ConfigOperation.SUBTRACT else "APPEND"
            if is_of_broker:  # which Kafka's broker refuses, and its controller a topic's
                raise ConfigError(f"Config value {name.lower()} is not allowed for config key: {config.name}")
            raise ConfigError(f"Can't {name} to key {config.name} because its type is not LIST.")
        present = [str(item) for item in configs.value_of(key, overrides)]
        overrides[config.name] = _changed_list(config.config_operation, parse_list(config.value or ""), present)


def _changed_list(operation: int, given: Collection[str], present: Collection[str]) -> str:
    if operation == ConfigOperation.APPEND:
        return render_list((*present, *(item for item in given if item not in present)))
    return render_list(name for name in present if name not in given)


HANDLER = public(ApiKey.INCREMENTAL_ALTER_CONFIGS, 0, 1, handle_incremental_alter_configs)
