"""AlterConfigs: replace all that is set for a topic, a broker or all brokers.

Tools that know IncrementalAlterConfigs use that instead.
"""

from broker.common.errors import ApiError
from broker.handlers.config_resources import changeable_configs
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from broker.runtime.in_turns import in_turns


async def handle_alter_configs(request: AlterConfigsRequest, context: RequestContext) -> AlterConfigsResponse:
    turns = context.services.turns
    altered = await in_turns(request.resources, lambda each: _alter(each, request.validate_only, context), turns)
    return AlterConfigsResponse(responses=altered)


async def _alter(
    asked: AlterConfigsResource, validate_only: bool, context: RequestContext
) -> AlterConfigsResourceResponse:
    response = AlterConfigsResourceResponse(
        error_message=None, resource_type=asked.resource_type, resource_name=asked.resource_name
    )
    try:
        await _replace(asked, validate_only, context)
    except ApiError as error:
        response.error_code, response.error_message = error.code, error.message
    return response


async def _replace(asked: AlterConfigsResource, validate_only: bool, context: RequestContext) -> None:
    configs = changeable_configs(asked.resource_type, asked.resource_name, context)
    overrides = {config.name: config.value for config in asked.configs if config.value is not None}
    await configs.apply(lambda _present: overrides, validate_only=validate_only)


HANDLER = public(ApiKey.ALTER_CONFIGS, 0, 2, handle_alter_configs)
