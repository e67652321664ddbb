"""ExpireDelegationToken: a token ends sooner, or at once (KIP-48)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, bytes_, int16, int32, int64, wire


class ExpireDelegationTokenRequest(
    Request["ExpireDelegationTokenResponse"], api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions=(0, 2), flexible_from=2
):
    """Names the token by its secret."""

    hmac: Buffer = wire(bytes_, secret=True)
    expiry_time_period_ms: int = wire(int64)  #: from now; below 0: it is removed


class ExpireDelegationTokenResponse(Message, api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions=(0, 2), flexible_from=2):
    """When it expires now."""

    error_code: int = wire(int16)
    expiry_timestamp_ms: int = wire(int64)
    throttle_time_ms: int = wire(int32)
