"""DeleteAcls: take away the access rules that filters mean."""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.acl_request import authorizer_for, filter_of
from broker.handlers.handler import public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.authorizer import DeletedAcl
from broker.security.acls.filters import BindingFilter
from broker.security.operations import AclOperation


async def handle_delete_acls(request: DeleteAclsRequest, context: RequestContext) -> DeleteAclsResponse:
    filters = [filter_of(filter_) for filter_ in request.filters]
    try:
        authorizer = authorizer_for(AclOperation.ALTER, context)
        deleted = iter(await authorizer.delete([wanted for wanted in filters if not _refusal_of(wanted)]))
    except ApiError as error:
        refused = DeleteAclsFilterResult(error_code=error.code, error_message=error.message)
        return DeleteAclsResponse(filter_results=[refused] * len(filters))
    return DeleteAclsResponse(
        filter_results=[
            DeleteAclsFilterResult(error_code=ErrorCode.INVALID_REQUEST, error_message=reason)
            if (reason := _refusal_of(wanted))
            else DeleteAclsFilterResult(error_message=None, matching_acls=[_matching_acl(one) for one in next(deleted)])
            for wanted in filters
        ]
    )


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
