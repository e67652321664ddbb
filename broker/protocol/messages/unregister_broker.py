"""UnregisterBroker: have a cluster forget a broker that will not come back (KIP-631)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, int16, int32, string, wire


class UnregisterBrokerRequest(
    Request["UnregisterBrokerResponse"], api=ApiKey.UNREGISTER_BROKER, versions=(0, 0), flexible_from=0
):
    """The broker to forget; one that runs stays registered until its session ends."""

    broker_id: int = wire(int32)


class UnregisterBrokerResponse(Message, api=ApiKey.UNREGISTER_BROKER, versions=(0, 0), flexible_from=0):
    """Whether it is forgotten."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
