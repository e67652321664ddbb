"""ListConfigResources: the resources that can have a configuration, by type (KIP-1142)."""

from collections.abc import Callable, Collection

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require_on_cluster
from broker.handlers.config_resources import ConfigResourceType
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.made_late import joined, made_late
from broker.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation

_FIRST_VERSION_WITH_TYPES = 1
_GROUP = 32


def handle_list_config_resources(
    request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    """List resources of the types asked for, of all types if none is. Any other type is UNSUPPORTED_VERSION."""
    try:
        require_on_cluster(AclOperation.DESCRIBE_CONFIGS, context)
    except ApiError as error:
        return ListConfigResourcesResponse(error_code=error.code)
    served = (
        _NAMES
        if context.api_version >= _FIRST_VERSION_WITH_TYPES
        else {ConfigResourceType.CLIENT_METRICS: _client_metrics}
    )
    wanted = set(request.resource_types) or served.keys()
    if wanted - served.keys():
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    listed = [_resources(kind, names(context)) for kind, names in served.items() if kind in wanted]
    return ListConfigResourcesResponse(config_resources=joined(listed))


def _resources(resource_type: int, names: Collection[str]) -> Collection[ConfigResource]:
    resources: Collection[ConfigResource] = made_late(
        names, lambda name: ConfigResource(resource_name=name, resource_type=resource_type)
    )
    return resources


def _groups(context: RequestContext) -> Collection[str]:
    """Return the groups that have a configuration of their own."""
    return list(context.services.group_configs.names())


def _client_metrics(context: RequestContext) -> Collection[str]:
    return list(context.services.telemetry.subscriptions.by_name)


def _brokers(context: RequestContext) -> Collection[str]:
    """Return the ids of brokers that the client can reach."""
    brokers = context.services.metadata.brokers.values()
    return [str(broker.broker_id) for broker in brokers if context.session.listener in broker.endpoints]


def _topics(context: RequestContext) -> Collection[str]:
    return list(context.services.metadata.topics)


#: In the order of Kafka's response.
_NAMES: dict[int, Callable[[RequestContext], Collection[str]]] = {
    _GROUP: _groups,
    ConfigResourceType.CLIENT_METRICS: _client_metrics,
    ConfigResourceType.BROKER_LOGGER: _brokers,
    ConfigResourceType.BROKER: _brokers,
    ConfigResourceType.TOPIC: _topics,
}

HANDLER = public(ApiKey.LIST_CONFIG_RESOURCES, 0, 1, handle_list_config_resources, budget=OF_EVERYTHING)
