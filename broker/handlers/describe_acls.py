"""DescribeAcls: the access rules that match a filter, as they count on this broker."""

from broker.common.errors import ApiError
from broker.handlers.acl_request import authorizer_for, filter_of
from broker.handlers.handler import OF_EVERYTHING, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from broker.runtime.requests.context import RequestContext
from broker.security.acls.model import AclEntry, Pattern
from broker.security.operations import AclOperation


def handle_describe_acls(request: DescribeAclsRequest, context: RequestContext) -> DescribeAclsResponse:
    wanted = filter_of(request)
    try:
        rules = authorizer_for(AclOperation.DESCRIBE, context).describe(wanted)
    except ApiError as error:
        return DescribeAclsResponse(error_code=error.code, error_message=error.message)
    return DescribeAclsResponse(resources=[_resource(pattern, entries) for pattern, entries in rules.items()])


def _resource(pattern: Pattern, entries: list[AclEntry]) -> DescribeAclsResource:
    acls = [
        AclDescription(
            principal=entry.principal, host=entry.host, operation=entry.operation, permission_type=entry.permission
        )
        for entry in entries
    ]
    return DescribeAclsResource(
        resource_type=pattern.kind, resource_name=pattern.name, pattern_type=pattern.type, acls=acls
    )


HANDLER = public(ApiKey.DESCRIBE_ACLS, 0, 3, handle_describe_acls, budget=OF_EVERYTHING)
