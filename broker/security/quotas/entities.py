"""Whom a quota is for, and which of several quotas counts: the one for whom is named most precisely.

An entity holds its parts as znodes spell them, so that `<default>` can be no user's name.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.security.sanitized_names import DEFAULT, desanitized, sanitized


class EntityType(StrEnum):
    """As requests name them."""

    USER = "user"
    CLIENT_ID = "client-id"
    IP = "ip"


#: Type and name; None is the default entity of the type.
Part = tuple[str, str | None]


class QuotaEntity(NamedTuple):
    """A user, a client id, a user's client id, or an address; None: it is for no part of that type."""

    user: str | None = None
    client_id: str | None = None
    ip: str | None = None

    @property
    def path(self) -> str:
        """Below /config, and in notifications of changes: `users/U/clients/C`."""
        if self.ip is not None:
            return f"ips/{self.ip}"
        of_client = "" if self.client_id is None else f"clients/{self.client_id}"
        of_user = "" if self.user is None else f"users/{self.user}"
        return "/".join(filter(None, (of_user, of_client)))

    @property
    def parts(self) -> list[Part]:
        """The entity's parts as responses name them."""
        named = zip(EntityType, self, strict=True)
        return [(str(kind), _name_of(text)) for kind, text in named if text is not None]


def _name_of(text: str) -> str | None:
    return None if text == DEFAULT else desanitized(text)


def entity_at(path: str) -> QuotaEntity | None:
    """Return the entity whose quotas are at this path below /config; None for another path."""
    match path.split("/"):
        case ["users", user]:
            return QuotaEntity(user=user)
        case ["users", user, "clients", client_id]:
            return QuotaEntity(user=user, client_id=client_id)
        case ["clients", client_id]:
            return QuotaEntity(client_id=client_id)
        case ["ips", ip]:
            return QuotaEntity(ip=ip)
    return None


def entity_of(parts: Iterable[Part]) -> QuotaEntity:
    """Return the entity of a request. ApiError INVALID_REQUEST for an invalid one."""
    names: dict[EntityType, str] = {}
    for kind, name in parts:
        if kind not in set(EntityType):
            raise _invalid(f"Unhandled client quota entity type: {kind:.100}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
        if kind in names:
            raise _invalid(f"Duplicate {kind} in a client quota entity")
        names[EntityType(kind)] = DEFAULT if name is None else sanitized(name)
    if not names:
        raise _invalid("Invalid empty client quota entity")
    if EntityType.IP in names and len(names) > 1:
        raise _invalid("Invalid quota entity combination: an ip stands alone")
    return QuotaEntity(*(names.get(kind) for kind in EntityType))


def _invalid(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, reason)


def candidates(user: str, client_id: str) -> Iterator[QuotaEntity]:
    """Yield the entities whose quotas may apply to this user and client id (both sanitized), the most specific
    first.
    """
    yield QuotaEntity(user, client_id)
    yield QuotaEntity(user, DEFAULT)
    yield QuotaEntity(user)
    yield QuotaEntity(DEFAULT, client_id)
    yield QuotaEntity(DEFAULT, DEFAULT)
    yield QuotaEntity(DEFAULT)
    yield QuotaEntity(None, client_id)
    yield QuotaEntity(None, DEFAULT)
