"""The words for quotas: whom one is for, what it limits, and which of several counts, by the brokers' own code."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

from broker.common.errors import ApiError
from broker.security.quotas.entities import EntityType, QuotaEntity, candidates, entity_at, entity_of
from broker.security.quotas.values import QuotaKey, keys_of, text_of
from broker.security.sanitized_names import DEFAULT, sanitized

__all__ = ["DEFAULT", "EntityType", "QuotaEntity", "QuotaKey", "entity_at", "entity_of", "keys_of"]

#: By quota, as Kafka calls them; whole numbers are written without a fraction.
Values = Mapping[str, float]
Quotas = Mapping[QuotaEntity, Values]
#: The code of the refusal of brokers that keep no quotas, or credentials.
UNSUPPORTED = "UNSUPPORTED_VERSION"

#: Quotas in the order in which people read them.
LABEL_ORDER = tuple(str(key) for key in QuotaKey)
#: Which parts an entity names (True), has by default (False) or not at all (None): user and client id, but for neither.
#: Those that count first come first.
_SHAPES = tuple(product((True, False, None), repeat=2))[:-1]
_KINDS = {EntityType.USER: "user", EntityType.CLIENT_ID: "client id", EntityType.IP: "address"}


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """Those who share a quota on one broker: what they have used lately beside what they may, in its own unit.

    Of a client `user` and `client_id` are empty where it is whoever, or whatever, it is; `ip` is empty but for
    connection_creation_rate. `throttled_ms`: all that was to be waited since the broker knows them.
    """

    key: str
    user: str
    client_id: str
    ip: str
    limit: float
    rate: float
    throttled_ms: int

    @property
    def who(self) -> str:
        named = (("address", self.ip), ("user", self.user), ("client id", self.client_id))
        return ", ".join(f"{kind} {name}" for kind, name in named if name) or "everybody"


class QuotaGateway(Protocol):
    def describe(self) -> Quotas:
        """Return all quotas. Raises GatewayError, with the code UNSUPPORTED where brokers have none."""
        ...

    def change(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        """Set and (None) remove quotas of an entity; what is not named stays. Raises GatewayError."""
        ...


def entity_text(entity: QuotaEntity) -> str:
    """Return `user alice, client id app`; a default entity is `default user`."""
    return ", ".join(
        f"default {_KINDS[EntityType(kind)]}" if name is None else f"{_KINDS[EntityType(kind)]} {name}"
        for kind, name in entity.parts
    )


def rank_of(entity: QuotaEntity) -> int:
    """Return the place of its shape among those that `order_for` gives, from 1; of addresses behind all of them."""
    if entity.ip is not None:
        return len(_SHAPES) + (1 if entity.ip != DEFAULT else 2)
    user, client = (None if name is None else name != DEFAULT for name in (entity.user, entity.client_id))
    return _SHAPES.index((user, client)) + 1


def value_refusal(key: str, value: float) -> str:
    """Return why the value is invalid for this quota, in a sentence; empty if it is valid."""
    try:
        text_of(QuotaKey(key), value)
    except ApiError as error:
        return error.message
    return ""


def value_text(key: str, value: float) -> str:
    """Format the value as brokers store it."""
    return text_of(QuotaKey(key), value)


def order_for(user: str, client_id: str) -> Iterator[QuotaEntity]:
    """Yield the entities whose quotas may apply to a client, in order of precedence; addresses have their own."""
    return candidates(sanitized(user), sanitized(client_id))


def order_for_address(ip: str) -> Iterator[QuotaEntity]:
    yield QuotaEntity(ip=sanitized(ip))
    yield QuotaEntity(ip=DEFAULT)


def deciding(quotas: Quotas, key: str, order: Iterator[QuotaEntity]) -> QuotaEntity | None:
    """Return the entity whose quota of this kind applies; None: no limit."""
    return next((entity for entity in order if key in quotas.get(entity, ())), None)


def source_of(use: QuotaUse, quotas: Quotas) -> QuotaEntity | None:
    """Return the entity whose quota is used; None if it was removed meanwhile.

    Who shares a use says of what shape the entity is: by the first of this shape the broker has decided.
    """
    if use.ip:
        return deciding(quotas, use.key, order_for_address(use.ip))
    shape = (bool(use.user), bool(use.client_id))
    order = order_for(use.user, use.client_id)
    return deciding(
        quotas,
        use.key,
        (entity for entity in order if (entity.user is not None, entity.client_id is not None) == shape),
    )
