"""CreateDelegationToken: a secret of its own by which the owner's programs log in for a while (KIP-48)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, Struct, array, bytes_, int16, int32, int64, string, wire


class CreatableRenewer(Struct):
    principal_type: str = wire(string)
    principal_name: str = wire(string)


class CreateDelegationTokenRequest(
    Request["CreateDelegationTokenResponse"], api=ApiKey.CREATE_DELEGATION_TOKEN, versions=(0, 3), flexible_from=2
):
    """3: for somebody else than who asks (KIP-373)."""

    owner_principal_type: str | None = wire(string, since=3, nullable=True)
    owner_principal_name: str | None = wire(string, since=3, nullable=True)  #: null or empty: who asks
    renewers: list[CreatableRenewer] = wire(array(CreatableRenewer))  #: who may renew it besides its owner
    max_lifetime_ms: int = wire(int64)  #: not above 0: as long as the broker allows


class CreateDelegationTokenResponse(Message, api=ApiKey.CREATE_DELEGATION_TOKEN, versions=(0, 3), flexible_from=2):
    """The token, or why there is none. 3: who asked for it."""

    error_code: int = wire(int16)
    principal_type: str = wire(string)  #: of the owner
    principal_name: str = wire(string)
    token_requester_principal_type: str = wire(string, since=3, ignorable=True)
    token_requester_principal_name: str = wire(string, since=3, ignorable=True)
    issue_timestamp_ms: int = wire(int64)
    expiry_timestamp_ms: int = wire(int64)  #: unless it is renewed before
    max_timestamp_ms: int = wire(int64)  #: the end, however often it is renewed
    token_id: str = wire(string)
    hmac: Buffer = wire(bytes_, secret=True)  #: the password, as bytes
    throttle_time_ms: int = wire(int32)
