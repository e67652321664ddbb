"""What the three APIs of access rules share: who may ask, and how rules stand on the wire."""

from enum import IntEnum
from typing import Protocol, TypeVar

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.authorization import require_on_cluster
from broker.handlers.handler import CloseConnectionError
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.authorizer import Authorizer
from broker.security.acls.filters import BindingFilter, EntryFilter, PatternFilter
from broker.security.acls.model import AclEntry, PatternType, Permission, java_host
from broker.security.operations import AclOperation, ResourceType

Named = TypeVar("Named", bound=IntEnum)


class WireFilter(Protocol):
    """Of DescribeAcls and DeleteAcls."""

    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int


def authorizer_for(operation: AclOperation, context: RequestContext) -> Authorizer:
    """Raises ApiError for who may not ask, and if there is none."""
    require_on_cluster(operation, context)
    authorizer = context.services.authorizer
    if authorizer is None:
        raise ApiError(ErrorCode.SECURITY_DISABLED, "No Authorizer is configured on the broker")
    return authorizer


def filter_of(wire: WireFilter) -> BindingFilter:
    """Raises CloseConnectionError for numbers that mean nothing, which Kafka cannot read either."""
    pattern = PatternFilter(
        kind_of(wire.resource_type_filter), wire.resource_name_filter, pattern_type_of(wire.pattern_type_filter)
    )
    host = None if wire.host_filter is None else java_host(wire.host_filter)
    return BindingFilter(
        pattern,
        EntryFilter(wire.principal_filter, host, operation_of(wire.operation), permission_of(wire.permission_type)),
    )


def entry_of(principal: str, host: str, operation: int, permission: int) -> AclEntry:
    """Raises CloseConnectionError, as `filter_of`."""
    return AclEntry(principal, java_host(host), operation_of(operation), permission_of(permission))


def kind_of(number: int) -> ResourceType:
    try:
        return _known(ResourceType(number))
    except ValueError:
        raise _unreadable("resource type", number) from None


def pattern_type_of(number: int) -> PatternType:
    try:
        return _known(PatternType(number))
    except ValueError:
        raise _unreadable("pattern type", number) from None


def operation_of(number: int) -> AclOperation:
    try:
        return _known(AclOperation(number))
    except ValueError:
        raise _unreadable("operation", number) from None


def permission_of(number: int) -> Permission:
    try:
        return _known(Permission(number))
    except ValueError:
        raise _unreadable("permission type", number) from None


def _known(value: Named) -> Named:
    if not value:
        raise ValueError(value)
    return value


def _unreadable(what: str, number: int) -> CloseConnectionError:
    return CloseConnectionError(f"a rule of access with {what} {number}")
