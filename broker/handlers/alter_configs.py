"""AlterConfigs: replace all that is set for a topic, a broker or all brokers.

Tools that know IncrementalAlterConfigs use that instead.
"""

from broker.handlers.config_resources import alter_each, changeable_configs, check_pairs
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from broker.runtime.requests.context import RequestContext


async def handle_alter_configs(request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    async def replace(resource: AlterConfigsResource) -> None:
        given = {config.name: config.value for config in resource.configs}
        check_pairs(len(resource.configs), given)
        configs = changeable_configs(resource.resource_type, resource.resource_name, context)
        overrides = {config.name: config.value for config in resource.configs if config.value is not None}
        await configs.apply(lambda _present: overrides, validate_only=request.validate_only)

    altered = await alter_each(request.resources, replace, AlterConfigsResourceResponse, context)
    return AlterConfigsResponse(responses=altered)


HANDLER = public(ApiKey.ALTER_CONFIGS, 0, 2, handle_alter_configs)
