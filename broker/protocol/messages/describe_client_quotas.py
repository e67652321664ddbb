"""DescribeClientQuotas: the quotas set for users, client ids and addresses (KIP-546)."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, float64, int8, int16, int32, string, wire


class QuotaMatchType(IntEnum):
    """Values of `match_type`."""

    #: The entity whose name is `match`.
    EXACT = 0
    #: The default entity of the type.
    DEFAULT = 1
    #: Any entity of the type, the default included.
    ANY = 2


class ComponentData(Struct):
    entity_type: str = wire(string)  #: "user", "client-id" or "ip"
    match_type: int = wire(int8)  #: a QuotaMatchType
    match: str | None = wire(string, nullable=True)  #: null unless the match is exact


class DescribeClientQuotasRequest(
    Request["DescribeClientQuotasResponse"], api=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions=(0, 1), flexible_from=1
):
    """A quota is described if its entity matches every component."""

    components: list[ComponentData] = wire(array(ComponentData))
    strict: bool = wire(boolean)  #: leave out entities that have types no component names


class EntityData(Struct):
    entity_type: str = wire(string)
    entity_name: str | None = wire(string, nullable=True)  #: null for the default entity


class ValueData(Struct):
    key: str = wire(string)  #: "producer_byte_rate", "consumer_byte_rate", "request_percentage" …
    value: float = wire(float64)


class EntryData(Struct):
    entity: list[EntityData] = wire(array(EntityData))  #: one part for each type: a user, a user's client id …
    values: list[ValueData] = wire(array(ValueData))


class DescribeClientQuotasResponse(Message, api=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions=(0, 1), flexible_from=1):
    """The quotas found, by entity."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    entries: list[EntryData] | None = wire(array(EntryData), nullable=True)  #: null on error
