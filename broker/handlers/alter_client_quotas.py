"""AlterClientQuotas: sets and removes quotas of users, client ids and addresses, each entity for itself (KIP-546).

Any broker writes them, and tells the others.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    EntryResult,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.quotas.entities import entity_of


async def handle_alter_client_quotas(
    request: AlterClientQuotasRequest, context: RequestContext
) -> AlterClientQuotasResponse:
    may = context.session.rights.may(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME)

    async def alter(entry: EntryData) -> EntryResult:
        code, message = ErrorCode.NONE, None
        try:
            if not may:
                raise ApiError(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
            await _alter(entry, context, validate_only=request.validate_only)
        except ApiError as error:
            code, message = error.code, error.message
        entity = [EntityData(entity_type=data.entity_type, entity_name=data.entity_name) for data in entry.entity]
        return EntryResult(error_code=code, error_message=message, entity=entity)

    return AlterClientQuotasResponse(entries=await in_turns(request.entries, alter, context.services.turns))


async def _alter(entry: EntryData, context: RequestContext, *, validate_only: bool) -> None:
    keys = [operation.key for operation in entry.ops]
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{twice} stands twice among the changes of an entity")
    entity = entity_of((data.entity_type, data.entity_name) for data in entry.entity)
    changes = {operation.key: None if operation.remove else operation.value for operation in entry.ops}
    await context.services.quotas.alter(entity, changes, validate_only=validate_only)


HANDLER = public(ApiKey.ALTER_CLIENT_QUOTAS, 0, 1, handle_alter_client_quotas)
