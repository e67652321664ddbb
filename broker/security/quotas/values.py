"""What can be limited, and which values a limit may have."""

from collections.abc import Mapping
from enum import StrEnum
from math import isfinite

from broker.common.errors import ApiError, ErrorCode
from broker.security.quotas.entities import QuotaEntity


class QuotaKey(StrEnum):
    """Names as znodes and requests spell them."""

    PRODUCER_BYTE_RATE = "producer_byte_rate"
    CONSUMER_BYTE_RATE = "consumer_byte_rate"
    #: Of this broker's one core: all requests are handled by one loop, so 100 is all there is.
    REQUEST_PERCENTAGE = "request_percentage"
    CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
    CONNECTION_CREATION_RATE = "connection_creation_rate"


OF_CLIENTS = frozenset(QuotaKey) - {QuotaKey.CONNECTION_CREATION_RATE}
OF_ADDRESSES = frozenset({QuotaKey.CONNECTION_CREATION_RATE})
_FRACTIONAL = frozenset({QuotaKey.REQUEST_PERCENTAGE, QuotaKey.CONTROLLER_MUTATION_RATE})
_LONG_MAX = 2**63 - 1
_LARGEST = {
    QuotaKey.PRODUCER_BYTE_RATE: _LONG_MAX,
    QuotaKey.CONSUMER_BYTE_RATE: _LONG_MAX,
    QuotaKey.CONNECTION_CREATION_RATE: 2**31 - 1,
}
#: How far a whole number may be off, which requests carry as a double.
_EPSILON = 1e-6


def keys_of(entity: QuotaEntity) -> frozenset[QuotaKey]:
    return OF_ADDRESSES if entity.ip is not None else OF_CLIENTS


def key_of(entity: QuotaEntity, name: str) -> QuotaKey:
    """ApiError INVALID_REQUEST if such an entity has no such quota."""
    if name not in keys_of(entity):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Invalid configuration key {name:.100}")
    return QuotaKey(name)


def text_of(key: QuotaKey, value: float) -> str:
    """Format the value of a quota. ApiError INVALID_REQUEST if it is no value for `key`.

    None but connection_creation_rate may be 0, as with KRaft: nobody could be told how long to wait.
    """
    if not isfinite(value) or value < 0 or (value == 0 and key is not QuotaKey.CONNECTION_CREATION_RATE):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Quota {key} must be greater than 0, and is {value}")
    if key in _FRACTIONAL:
        return str(value)
    whole = round(value)
    if key is not QuotaKey.CONNECTION_CREATION_RATE and whole == _LONG_MAX + 1:  # a double has no nearer one
        whole = _LONG_MAX
    elif whole > _LARGEST[key]:
        kind = "an INT" if key is QuotaKey.CONNECTION_CREATION_RATE else "a LONG"
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Proposed value for {key} is too large for {kind}.")
    elif abs(value - whole) > _EPSILON:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{key} cannot be a fractional value.")
    return str(whole)


def read_values(entity: QuotaEntity, config: Mapping[str, str]) -> tuple[dict[QuotaKey, float], list[str]]:
    """Return the quotas in what is set for an entity, and what is wrong with those that are left out.

    Other keys (a user's credentials) are passed over.
    """
    values: dict[QuotaKey, float] = {}
    wrong: list[str] = []
    for name, text in config.items():
        if name not in keys_of(entity):
            continue
        key = QuotaKey(name)
        try:
            value = float(text)
            text_of(key, value)
            values[key] = value
        except (ValueError, ApiError) as error:
            wrong.append(f"{name}={text:.50}: {error}")
    return values, wrong
