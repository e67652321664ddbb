"""DeleteAcls: remove the access rules that match some filters."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_acls import LITERAL
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class DeleteAclsFilter(Struct):
    resource_type_filter: int = wire(int8)  #: a ResourceType
    resource_name_filter: str | None = wire(string, nullable=True)  #: null matches everything, here and below
    pattern_type_filter: int = wire(int8, since=1, default=LITERAL)  #: a PatternType
    principal_filter: str | None = wire(string, nullable=True)
    host_filter: str | None = wire(string, nullable=True)
    operation: int = wire(int8)  #: an Operation
    permission_type: int = wire(int8)  #: a Permission


class DeleteAclsRequest(Request["DeleteAclsResponse"], api=ApiKey.DELETE_ACLS, versions=(0, 3), flexible_from=2):
    """Delete what some filters match, each filter succeeding or failing alone.

    1: kinds of patterns (KIP-290). 3: users as resources (KIP-373).
    """

    filters: list[DeleteAclsFilter] = wire(array(DeleteAclsFilter))


class DeleteAclsMatchingAcl(Struct):
    error_code: int = wire(int16)  #: why this rule is still there
    error_message: str | None = wire(string, nullable=True)
    resource_type: int = wire(int8)  #: a ResourceType
    resource_name: str = wire(string)
    pattern_type: int = wire(int8, since=1, default=LITERAL)  #: a PatternType
    principal: str = wire(string)
    host: str = wire(string)
    operation: int = wire(int8)  #: an Operation
    permission_type: int = wire(int8)  #: a Permission


class DeleteAclsFilterResult(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    matching_acls: list[DeleteAclsMatchingAcl] = wire(array(DeleteAclsMatchingAcl))


class DeleteAclsResponse(Message, api=ApiKey.DELETE_ACLS, versions=(0, 3), flexible_from=2):
    """One result for each filter, in the order of the request, with the rules it removed. 1: kinds of patterns."""

    throttle_time_ms: int = wire(int32)
    filter_results: list[DeleteAclsFilterResult] = wire(array(DeleteAclsFilterResult))
