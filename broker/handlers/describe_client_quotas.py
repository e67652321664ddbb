"""DescribeClientQuotas: what is set for users, client ids and addresses, as it stands in ZooKeeper (KIP-546)."""

from broker.common.errors import ApiError
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from broker.runtime.requests.context import RequestContext
from broker.security.operations import AclOperation
from broker.security.quotas.filters import read_filter


async def handle_describe_client_quotas(
    request: DescribeClientQuotasRequest, context: RequestContext
) -> DescribeClientQuotasResponse:
    try:
        require_on_cluster(AclOperation.DESCRIBE_CONFIGS, context)
        components = [
            (component.entity_type, component.match_type, component.match) for component in request.components
        ]
        described = await context.services.quotas.described(read_filter(components, is_strict=request.strict))
    except ApiError as error:
        return DescribeClientQuotasResponse(error_code=error.code, error_message=error.message, entries=None)
    return DescribeClientQuotasResponse(
        entries=[
            EntryData(
                entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.parts],
                values=[ValueData(key=str(key), value=value) for key, value in values.items()],
            )
            for entity, values in described
        ]
    )


HANDLER = public(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, 1, handle_describe_client_quotas)
