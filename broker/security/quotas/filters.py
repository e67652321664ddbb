"""Which quotas somebody asks about (KIP-546): a condition for each type of entity, and whether others may be there."""

from collections.abc import Iterable
from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.protocol.messages.describe_client_quotas import QuotaMatchType
from broker.security.quotas.entities import EntityType, QuotaEntity
from broker.security.sanitized_names import DEFAULT, sanitized


class EntityCondition(NamedTuple):
    """A condition on one part of an entity; `text` is what it has to be, None: any value."""

    kind: EntityType
    text: str | None


class EntityFilter(NamedTuple):
    """No condition and not strict: every entity."""

    conditions: tuple[EntityCondition, ...]
    is_strict: bool

    def matches(self, entity: QuotaEntity) -> bool:
        parts = dict(zip(EntityType, entity, strict=True))
        for kind, text in self.conditions:
            part = parts.pop(kind)
            if part is None or text not in (None, part):
                return False
        return not self.is_strict or all(text is None for text in parts.values())


def read_filter(components: Iterable[tuple[str, int, str | None]], *, is_strict: bool) -> EntityFilter:
    """Parse a filter of (entity type, match type, name).

    ApiError: INVALID_REQUEST, UNSUPPORTED_VERSION for an unknown type.
    """
    conditions: dict[str, EntityCondition] = {}
    for kind, match, name in components:
        if not kind:
            raise ApiError(ErrorCode.INVALID_REQUEST, "Invalid empty entity type.")
        if kind in conditions:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, f"Entity type {kind:.100} cannot appear more than once in the filter."
            )
        if kind not in set(EntityType):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind:.100}")
        conditions[kind] = EntityCondition(EntityType(kind), _text(match, name))
    if EntityType.IP in conditions and len(conditions) > 1:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "Invalid entity filter component combination, IP filter component should not be used with user or "
            "clientId filter component.",
        )
    return EntityFilter(tuple(conditions.values()), is_strict)


def _text(match: int, name: str | None) -> str | None:
    if (match == QuotaMatchType.EXACT) != (name is not None):
        raise ApiError(ErrorCode.INVALID_REQUEST, "A name belongs to an exact match, and to no other")
    if match == QuotaMatchType.EXACT:
        return sanitized(name or "")
    if match == QuotaMatchType.DEFAULT:
        return DEFAULT
    if match == QuotaMatchType.ANY:
        return None
    raise ApiError(ErrorCode.INVALID_REQUEST, f"Unexpected match type {match}")
