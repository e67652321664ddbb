"""CreateAcls: add access rules."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_acls import LITERAL
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class AclCreation(Struct):
    resource_type: int = wire(int8)  #: a ResourceType
    resource_name: str = wire(string)  #: "*" as a literal name is every resource; the cluster's is "kafka-cluster"
    resource_pattern_type: int = wire(int8, since=1, default=LITERAL)  #: LITERAL or PREFIXED
    principal: str = wire(string)  #: "User:alice", "User:*"
    host: str = wire(string)  #: an address or "*"
    operation: int = wire(int8)  #: an Operation
    permission_type: int = wire(int8)  #: DENY or ALLOW


class CreateAclsRequest(Request["CreateAclsResponse"], api=ApiKey.CREATE_ACLS, versions=(0, 3), flexible_from=2):
    """Create some rules, each succeeding or failing alone.

    1: kinds of patterns (KIP-290). 3: users as resources (KIP-373).
    """

    creations: list[AclCreation] = wire(array(AclCreation))


class AclCreationResult(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)


class CreateAclsResponse(Message, api=ApiKey.CREATE_ACLS, versions=(0, 3), flexible_from=2):
    """One result for each rule, in the order of the request."""

    throttle_time_ms: int = wire(int32)
    results: list[AclCreationResult] = wire(array(AclCreationResult))
