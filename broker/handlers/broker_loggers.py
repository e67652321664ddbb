"""The loggers of this broker as configurations (KIP-412): what each tells at least, changed while it runs.

As in Kafka nothing of it outlives the process.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.common.logs import LEVELS, ROOT, log_levels, set_log_level
from broker.config.definition import ConfigError, ConfigSource, ConfigType
from broker.handlers.config_resources import check_broker
from broker.protocol.messages.describe_configs import DescribeConfigsResourceResult
from broker.protocol.messages.incremental_alter_configs import AlterableConfig, AlterConfigsResource, ConfigOperation
from broker.runtime.requests.context import RequestContext


def describe_loggers(name: str, context: RequestContext) -> list[DescribeConfigsResourceResult]:
    """Describe the loggers of this broker, which must be `name`. Raises ApiError."""
    _check(name, context)
    return [
        DescribeConfigsResourceResult(
            name=logger,
            value=level,
            config_source=ConfigSource.LOGGER,
            config_type=ConfigType.STRING,
            documentation="What this logger tells at least.",
        )
        for logger, level in log_levels().items()
    ]


def alter_loggers(resource: AlterConfigsResource, context: RequestContext, *, validate_only: bool) -> None:
    """Alter all the loggers or none. Raises ApiError."""
    _check(resource.resource_name, context)
    known = log_levels()
    for config in resource.configs:
        _check_change(config, known)
    if validate_only:
        return
    for config in resource.configs:
        is_set = config.config_operation == ConfigOperation.SET
        set_log_level(config.name, config.value if is_set else None)


def _check(name: str, context: RequestContext) -> None:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "name the broker whose loggers are meant")
    check_broker(name, context)


def _check_change(config: AlterableConfig, known: dict[str, str]) -> None:
    if config.name not in known:
        raise ConfigError(f"there is no logger {config.name!r}")
    if config.config_operation == ConfigOperation.DELETE:
        if config.name == ROOT:
            raise ApiError(ErrorCode.INVALID_REQUEST, "the root logger needs a level")
    elif config.config_operation != ConfigOperation.SET:
        raise ApiError(ErrorCode.INVALID_REQUEST, "a logger's level can be set or deleted")
    elif config.value not in LEVELS:
        raise ConfigError(f"{config.name}={config.value} must be one of {', '.join(LEVELS)}")
