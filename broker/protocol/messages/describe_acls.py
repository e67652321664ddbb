"""DescribeAcls: which access rules match a filter. The enums of rules and filters are declared here."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class AclResourceType(IntEnum):
    """Values of `resource_type` and `resource_type_filter` in the three APIs of ACLs."""

    UNKNOWN = 0
    #: In filters only.
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class AclPatternType(IntEnum):
    """Values of `pattern_type`, `pattern_type_filter` and `resource_pattern_type` (KIP-290)."""

    UNKNOWN = 0
    #: In filters only: whatever the kind of pattern.
    ANY = 1
    #: In filters only: every pattern that applies to the name, be it literal, wildcard or prefix.
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """Values of `operation`; authorized operations elsewhere are sets of these, each the bit of its number."""

    UNKNOWN = 0
    #: In filters only.
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14


class AclPermissionType(IntEnum):
    """Values of `permission_type`."""

    UNKNOWN = 0
    #: In filters only.
    ANY = 1
    DENY = 2
    ALLOW = 3


class DescribeAclsRequest(Request["DescribeAclsResponse"], api=ApiKey.DESCRIBE_ACLS, versions=(0, 3), flexible_from=2):
    """A rule is described if every part of the filter matches; null matches everything.

    1: kinds of patterns (KIP-290). 3: users as resources (KIP-373).
    """

    resource_type_filter: int = wire(int8)  #: an AclResourceType
    resource_name_filter: str | None = wire(string, nullable=True)
    pattern_type_filter: int = wire(int8, since=1, default=AclPatternType.LITERAL.value)  #: an AclPatternType
    principal_filter: str | None = wire(string, nullable=True)  #: "User:alice"
    host_filter: str | None = wire(string, nullable=True)
    operation: int = wire(int8)  #: an AclOperation
    permission_type: int = wire(int8)  #: an AclPermissionType


class AclDescription(Struct):
    principal: str = wire(string)
    host: str = wire(string)  #: an address or "*"
    operation: int = wire(int8)  #: an AclOperation
    permission_type: int = wire(int8)  #: an AclPermissionType


class DescribeAclsResource(Struct):
    resource_type: int = wire(int8)  #: an AclResourceType
    resource_name: str = wire(string)
    pattern_type: int = wire(int8, since=1, default=AclPatternType.LITERAL.value)  #: an AclPatternType
    acls: list[AclDescription] = wire(array(AclDescription))


class DescribeAclsResponse(Message, api=ApiKey.DESCRIBE_ACLS, versions=(0, 3), flexible_from=2):
    """The rules found, by resource pattern. 1: kinds of patterns."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    resources: list[DescribeAclsResource] = wire(array(DescribeAclsResource))
