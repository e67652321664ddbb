"""CreateAcls: keep further access rules, each for itself; what cannot be a rule is refused alone."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.acl_request import authorizer_for, entry_of, known_or_unknown
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.acls.checks import refusal_of
from broker.security.acls.model import Binding, Pattern, PatternType
from broker.security.operations import AclOperation, ResourceType


async def handle_create_acls(request: CreateAclsRequest, context: RequestContext) -> CreateAclsResponse:
    turns = context.services.turns
    try:
        authorizer = authorizer_for(AclOperation.ALTER, context)
    except ApiError as error:
        return CreateAclsResponse(results=[_result(error)] * len(request.creations))
    valid: list[Binding] = []
    refused: dict[Binding, ApiError] = {}

    def sort(creation: AclCreation) -> Binding:
        binding = _binding(creation)
        if reason := refusal_of(binding):
            refused[binding] = ApiError(ErrorCode.INVALID_REQUEST, reason)
        else:
            valid.append(binding)
        return binding

    bindings = await in_turns(request.creations, sort, turns)
    refused |= await authorizer.create(valid)
    return CreateAclsResponse(results=await in_turns(bindings, lambda one: _result(refused.get(one)), turns))


def _binding(creation: AclCreation) -> Binding:
    kind = known_or_unknown(ResourceType, creation.resource_type)
    pattern_type = known_or_unknown(PatternType, creation.resource_pattern_type)
    pattern = Pattern(kind, creation.resource_name, pattern_type)
    return Binding(pattern, entry_of(creation.principal, creation.host, creation.operation, creation.permission_type))


def _result(error: ApiError | None) -> AclCreationResult:
    if error is None:
        return AclCreationResult()
    return AclCreationResult(error_code=error.code, error_message=error.message)


HANDLER = public(ApiKey.CREATE_ACLS, 0, 3, handle_create_acls)
