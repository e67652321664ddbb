"""What the three APIs of access rules share: who may ask, and how rules stand on the wire."""

from enum import IntEnum
from typing import Protocol, TypeVar

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require_on_cluster
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.authorizer import Authorizer
from broker.security.acls.filters import BindingFilter, EntryFilter, PatternFilter
from broker.security.acls.model import AclEntry, PatternType, Permission, java_host
from broker.security.operations import AclOperation, ResourceType

Named = TypeVar("Named", bound=IntEnum)


class WireFilter(Protocol):
    """The filter of DescribeAcls and DeleteAcls."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def authorizer_for(operation: AclOperation, context: RequestContext) -> Authorizer:
    """Return the authorizer. Raises ApiError if the client may not ask, or if there is none."""
    require_on_cluster(operation, context)
    authorizer = context.services.authorizer
    if authorizer is None:
        raise ApiError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    return authorizer


def filter_of(wire: WireFilter) -> BindingFilter:
    """Return the filter; a number that means nothing is UNKNOWN, which no rule has."""
    pattern = PatternFilter(
        known_or_unknown(ResourceType, wire.resource_type_filter),
        wire.resource_name_filter,
        known_or_unknown(PatternType, wire.pattern_type_filter),
    )
    host = None if wire.host_filter is None else java_host(wire.host_filter)
    operation = known_or_unknown(AclOperation, wire.operation)
    permission = known_or_unknown(Permission, wire.permission_type)
    return BindingFilter(pattern, EntryFilter(wire.principal_filter, host, operation, permission))


def entry_of(principal: str, host: str, operation: int, permission: int) -> AclEntry:
    """Return what a rule says, with UNKNOWN for numbers that mean nothing."""
    known = known_or_unknown(AclOperation, operation), known_or_unknown(Permission, permission)
    return AclEntry(principal, java_host(host), *known)


def known_or_unknown(kinds: type[Named], number: int) -> Named:
    """Return the member of that number, or UNKNOWN, which is 0."""
    try:
        return kinds(number)
    except ValueError:
        return kinds(0)
