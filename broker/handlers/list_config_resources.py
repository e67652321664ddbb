"""ListConfigResources: names of what has a configuration (KIP-1142).

Version 0 lists subscriptions to client metrics (KIP-714), which are not served: an unknown type, as in Kafka.
"""

from collections.abc import Callable, Iterable

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require_on_cluster
from broker.handlers.config_resources import ConfigResourceType
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from broker.runtime.requests.context import RequestContext, Services
from broker.security.operations import AclOperation


def handle_list_config_resources(
    request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    try:
        require_on_cluster(AclOperation.DESCRIBE_CONFIGS, context)
        types = request.resource_types or [*_NAMES]
        if any(resource_type not in _NAMES for resource_type in types):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)
    except ApiError as error:
        return ListConfigResourcesResponse(error_code=error.code)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=resource_type)
            for resource_type in dict.fromkeys(types)
            for name in _NAMES[resource_type](context.services)
        ]
    )


def _brokers(services: Services) -> Iterable[str]:
    return map(str, services.metadata.brokers)


#: By the type of the resource.
_NAMES: dict[int, Callable[[Services], Iterable[str]]] = {
    ConfigResourceType.TOPIC: lambda services: services.metadata.topics,
    ConfigResourceType.BROKER: _brokers,
    ConfigResourceType.BROKER_LOGGER: _brokers,
    ConfigResourceType.GROUP: lambda services: services.group_configs.names(),
}

HANDLER = public(ApiKey.LIST_CONFIG_RESOURCES, 1, 1, handle_list_config_resources, budget=OF_EVERYTHING)
