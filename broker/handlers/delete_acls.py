"""DeleteAcls: take away the access rules that filters mean."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.acl_request import authorizer_for, filter_of
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.authorizer import DeletedAcl
from broker.security.acls.filters import BindingFilter
from broker.security.operations import AclOperation


async def handle_delete_acls(request: DeleteAclsRequest, context: RequestContext) -> DeleteAclsResponse:
    turns = context.services.turns
    try:
        authorizer = authorizer_for(AclOperation.ALTER, context)
        filters = await in_turns(request.filters, _read, turns)
        deleted = iter(await authorizer.delete([wanted for wanted, reason in filters if not reason]))
    except ApiError as error:
        refused = DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
        return DeleteAclsResponse(filter_results=[refused] * len(request.filters))

    def result(filter_: tuple[BindingFilter, str]) -> DeleteAclsFilterResult:
        if filter_[1]:
            return DeleteAclsFilterResult(error_code=ErrorCode.INVALID_REQUEST, error_message=filter_[1])
        return DeleteAclsFilterResult(error_message=None, matching_acls=[_matching_acl(one) for one in next(deleted)])

    return DeleteAclsResponse(filter_results=await in_turns(filters, result, turns))


def _read(wire: DeleteAclsFilter) -> tuple[BindingFilter, str]:
    """Return the filter, and why it is refused; empty if it is not."""
    wanted = filter_of(wire)
    return wanted, _refusal_of(wanted)


def _refusal_of(wanted: BindingFilter) -> str:
    """Return Kafka's sentence for a filter with a number that means nothing; empty for all others."""
    if not (wanted.pattern.kind and wanted.pattern.type):
        return "Unknown patternFilter."
    return "" if wanted.entry.operation and wanted.entry.permission else "Unknown entryFilter."


def _matching_acl(deleted: DeletedAcl) -> DeleteAclsMatchingAcl:
    (pattern, entry), error = deleted
    return DeleteAclsMatchingAcl(
        error_code=error.code if error else 0,
        error_message=error.message if error else None,
        resource_type=pattern.kind,
        resource_name=pattern.name,
        pattern_type=pattern.type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


HANDLER = public(ApiKey.DELETE_ACLS, 0, 3, handle_delete_acls)
