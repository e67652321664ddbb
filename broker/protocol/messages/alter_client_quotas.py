"""AlterClientQuotas: set and remove quotas of users, client ids and addresses (KIP-546)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, float64, int16, int32, string, wire


class EntityData(Struct):
    entity_type: str = wire(string)  #: "user", "client-id" or "ip"
    entity_name: str | None = wire(string, nullable=True)  #: null for the default entity


class OpData(Struct):
    key: str = wire(string)  #: "producer_byte_rate", "consumer_byte_rate", "request_percentage" …
    value: float = wire(float64)  #: without meaning when removing
    remove: bool = wire(boolean)


class EntryData(Struct):
    entity: list[EntityData] = wire(array(EntityData))  #: one part for each type: a user, a user's client id …
    ops: list[OpData] = wire(array(OpData))  #: what is not named stays as it is


class AlterClientQuotasRequest(
    Request["AlterClientQuotasResponse"], api=ApiKey.ALTER_CLIENT_QUOTAS, versions=(0, 1), flexible_from=1
):
    """Change the quotas of some entities, each succeeding or failing alone."""

    entries: list[EntryData] = wire(array(EntryData))
    validate_only: bool = wire(boolean)


class EntryResult(Struct):
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    entity: list[EntityData] = wire(array(EntityData))


class AlterClientQuotasResponse(Message, api=ApiKey.ALTER_CLIENT_QUOTAS, versions=(0, 1), flexible_from=1):
    """One result for each entity."""

    throttle_time_ms: int = wire(int32)
    entries: list[EntryResult] = wire(array(EntryResult))
