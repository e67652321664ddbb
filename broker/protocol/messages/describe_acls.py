"""DescribeAcls: which access rules match a filter.

The numbers of resource types and operations are those of `broker/security/operations.py`, the numbers of pattern types
and permissions those of `broker/security/acls/model.py`.
"""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire

#: The pattern type of versions that name none (KIP-290).
LITERAL = 3


class DescribeAclsRequest(Request["DescribeAclsResponse"], api=ApiKey.DESCRIBE_ACLS, versions=(0, 3), flexible_from=2):
    """A rule is described if every part of the filter matches; null matches everything.

    1: kinds of patterns (KIP-290). 3: users as resources (KIP-373).
    """

    resource_type_filter: int = wire(int8)  #: a ResourceType
    resource_name_filter: str | None = wire(string, nullable=True)
    pattern_type_filter: int = wire(int8, since=1, default=LITERAL)  #: a PatternType
    principal_filter: str | None = wire(string, nullable=True)  #: "User:alice"
    host_filter: str | None = wire(string, nullable=True)
    operation: int = wire(int8)  #: an Operation
    permission_type: int = wire(int8)  #: a Permission


class AclDescription(Struct):
    principal: str = wire(string)
    host: str = wire(string)  #: an address or "*"
    operation: int = wire(int8)  #: an Operation
    permission_type: int = wire(int8)  #: a Permission


class DescribeAclsResource(Struct):
    resource_type: int = wire(int8)  #: a ResourceType
    resource_name: str = wire(string)
    pattern_type: int = wire(int8, since=1, default=LITERAL)  #: a PatternType
    acls: list[AclDescription] = wire(array(AclDescription))


class DescribeAclsResponse(Message, api=ApiKey.DESCRIBE_ACLS, versions=(0, 3), flexible_from=2):
    """The rules found, by resource pattern. 1: kinds of patterns."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    resources: list[DescribeAclsResource] = wire(array(DescribeAclsResource))
