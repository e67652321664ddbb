"""DescribeDelegationToken: the tokens that who asks may know of, their secrets with them (KIP-48)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, Struct, array, bytes_, int16, int32, int64, string, wire


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = wire(string)
    principal_name: str = wire(string)


class DescribeDelegationTokenRequest(
    Request["DescribeDelegationTokenResponse"], api=ApiKey.DESCRIBE_DELEGATION_TOKEN, versions=(0, 3), flexible_from=2
):
    """Whose tokens: null for everybody's, empty for nobody's."""

    owners: list[DescribeDelegationTokenOwner] | None = wire(array(DescribeDelegationTokenOwner), nullable=True)


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = wire(string)
    principal_name: str = wire(string)


class DescribedDelegationToken(Struct):
    principal_type: str = wire(string)  #: of the owner
    principal_name: str = wire(string)
    token_requester_principal_type: str = wire(string, since=3, ignorable=True)
    token_requester_principal_name: str = wire(string, since=3, ignorable=True)
    issue_timestamp_ms: int = wire(int64)
    expiry_timestamp_ms: int = wire(int64)
    max_timestamp_ms: int = wire(int64)
    token_id: str = wire(string)
    hmac: Buffer = wire(bytes_, secret=True)
    renewers: list[DescribedDelegationTokenRenewer] = wire(array(DescribedDelegationTokenRenewer))


class DescribeDelegationTokenResponse(Message, api=ApiKey.DESCRIBE_DELEGATION_TOKEN, versions=(0, 3), flexible_from=2):
    """3: who asked for each token (KIP-373)."""

    error_code: int = wire(int16)
    tokens: list[DescribedDelegationToken] = wire(array(DescribedDelegationToken))
    throttle_time_ms: int = wire(int32)
