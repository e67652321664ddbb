"""What the three config APIs share: which resources there are, and who answers for them."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.config import broker, client_metrics, group, topic
from broker.config.definition import ConfigError, Key
from broker.config.resolution import settings_of
from broker.handlers.authorization import require, require_on_cluster
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.topics.topic_configs import ConfigChange
from broker.security import operations
from broker.security.operations import AclOperation


class ConfigResourceType(IntEnum):
    """Values of `resource_type`."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


_RESOURCES: dict[int, operations.ResourceType] = {
    ConfigResourceType.TOPIC: operations.ResourceType.TOPIC,
    ConfigResourceType.GROUP: operations.ResourceType.GROUP,
}


def require_config(operation: AclOperation, resource_type: int, name: str, context: RequestContext) -> None:
    """Raises ApiError unless the client may do that with the configuration; brokers' is the cluster's."""
    if resource_type in _RESOURCES:
        require(operation, _RESOURCES[resource_type], name, context)
    else:
        require_on_cluster(operation, context)


def check_topic(name: str, context: RequestContext) -> None:
    if name not in context.services.metadata.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")


def check_broker(name: str, context: RequestContext, what: str = "Node", besides: str = "") -> None:
    """Require that the request is for this broker: only it knows its configuration. The empty name stands for the
    cluster-wide default.

    `what` and `besides` are Kafka's words, which differ between reading and writing.
    """
    own = context.services.config.broker_id
    if name not in ("", str(own)):
        is_number = re.fullmatch(r"[+-]?[0-9]+", name) is not None
        wrong_broker = f"Unexpected broker id, expected {own}{besides}, but received {name}"
        no_number = f"{what} id must be an integer, but it is: {name}"
        raise ApiError(ErrorCode.INVALID_REQUEST, wrong_broker if is_number else no_number)


class ChangeableConfigs(NamedTuple):
    """What AlterConfigs and IncrementalAlterConfigs do with one resource; all of it raises ApiError."""

    key_of: Callable[[str], Key]
    #: Of a key, as it counts at present where nothing is set for the resource.
    value_of: Callable[[Key, Mapping[str, str]], Any]
    overrides: Callable[[], Awaitable[dict[str, str]]]
    #: From the overrides there are to those there shall be.
    check: Callable[[Mapping[str, str], Mapping[str, str]], None]
    change: Callable[[ConfigChange], Awaitable[None]]

    async def apply(self, change: ConfigChange, *, validate_only: bool) -> None:
        if validate_only:
            present = await self.overrides()
            self.check(present, change(present))
        else:
            await self.change(change)


def changeable_configs(resource_type: int, name: str, context: RequestContext) -> ChangeableConfigs:
    """Raises ApiError if there is no such resource, or another broker answers for it."""
    if resource_type not in _CHANGEABLE:
        raise unknown_resource(resource_type)
    return _CHANGEABLE[resource_type](name, context)


def _of_topic(name: str, context: RequestContext) -> ChangeableConfigs:
    if not name:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
    check_topic(name, context)
    configs, config = context.services.topic_configs, context.services.config
    return ChangeableConfigs(
        key_of=partial(_key, topic.BY_NAME.get, "topic"),
        value_of=lambda key, overrides: settings_of(key, overrides, config)[0].value,
        overrides=partial(configs.overrides, name),
        check=partial(configs.check, name),
        change=partial(configs.change, name),
    )


def _of_broker(name: str, context: RequestContext) -> ChangeableConfigs:
    check_broker(name, context)
    configs, values = context.services.broker_configs, context.services.config.values
    return ChangeableConfigs(
        key_of=partial(_key, broker.key_of, "broker"),
        value_of=lambda key, overrides: (
            key.read(overrides[key.name]) if key.name in overrides else values[key.attribute]
        ),
        overrides=partial(configs.overrides, name),
        check=partial(configs.check, name),
        change=partial(configs.change, name),
    )


def _of_group(name: str, context: RequestContext) -> ChangeableConfigs:
    configs, config = context.services.group_configs, context.services.config
    return ChangeableConfigs(
        key_of=partial(_key, group.BY_NAME.get, "group"),
        value_of=lambda key, overrides: group.group_settings_of(key, overrides, config)[0].value,
        overrides=partial(configs.overrides, name),
        check=lambda _present, wanted: configs.check(wanted),
        change=partial(configs.change, name),
    )


def _of_client_metrics(name: str, context: RequestContext) -> ChangeableConfigs:
    subscriptions = context.services.telemetry.subscriptions
    return ChangeableConfigs(
        key_of=partial(_key, client_metrics.BY_NAME.get, "client metrics"),
        value_of=lambda key, overrides: key.read(overrides[key.name]) if key.name in overrides else key.default,
        overrides=partial(subscriptions.overrides, name),
        check=lambda _present, wanted: subscriptions.check(name, wanted),
        change=partial(subscriptions.change, name),
    )


_CHANGEABLE: dict[int, Callable[[str, RequestContext], ChangeableConfigs]] = {
    ConfigResourceType.TOPIC: _of_topic,
    ConfigResourceType.BROKER: _of_broker,
    ConfigResourceType.GROUP: _of_group,
    ConfigResourceType.CLIENT_METRICS: _of_client_metrics,
}


def check_pairs(count: int, given: Mapping[str, str | None], besides: Collection[str] = ()) -> None:
    """Raise ApiError if of `count` settings in a request some have one name, or some of those `given` no value."""
    if len(given.keys() | set(besides)) < count:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    if without := [name for name, value in given.items() if value is None]:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Null value not supported for : {', '.join(without)}")


def _key(key_of: Callable[[str], Key | None], kind: str, name: str) -> Key:
    key = key_of(name)
    if key is None:
        raise ConfigError(f"Unknown {kind} config name: {name}")
    return key


async def alter_each(
    resources: Sequence[Any],
    change: Callable[[Any], Awaitable[None]],
    response_class: Callable[..., Any],
    context: RequestContext,
) -> list[Any]:
    """Alter each resource that the client may alter and return one response each, in turns; `change` raises
    ApiError.
    """

    times_named = Counter((resource.resource_type, resource.resource_name) for resource in resources)

    async def alter(resource: Any) -> Any:
        response = response_class(
            error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        try:
            if times_named[resource.resource_type, resource.resource_name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
            require_config(AclOperation.ALTER_CONFIGS, resource.resource_type, resource.resource_name, context)
            await change(resource)
        except ApiError as error:
            response.error_code, response.error_message = error.code, error.message
        return response

    altered: list[Any] = await in_turns(resources, alter, context.services.turns)
    return altered


def unknown_resource(resource_type: int) -> ApiError:
    return ApiError(
        ErrorCode.INVALID_REQUEST,
        f"Unknown resource type {resource_type}; 2 is a topic, 4 a broker, 8 its loggers, 16 client metrics, "
        "32 a group",
    )
