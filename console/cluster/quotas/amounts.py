"""Amounts of quotas as people read and type them. Pure."""

from console.kit.common.amounts import SIZES, whole_number
from console.kit.common.figures import grouped, size
from console.kit.gateway.quotas.interface import QuotaKey

_LABELS = {
    QuotaKey.PRODUCER_BYTE_RATE: "Producing",
    QuotaKey.CONSUMER_BYTE_RATE: "Consuming",
    QuotaKey.REQUEST_PERCENTAGE: "Request time",
    QuotaKey.CONTROLLER_MUTATION_RATE: "Mutations",
    QuotaKey.CONNECTION_CREATION_RATE: "New connections",
}
_HINTS = {
    QuotaKey.PRODUCER_BYTE_RATE: "Bytes per second written to one broker: 1048576, 1.5 MB.",
    QuotaKey.CONSUMER_BYTE_RATE: "Bytes per second read from one broker.",
    QuotaKey.REQUEST_PERCENTAGE: "Percent of the time of one core of a broker: 100 is all there is of ours.",
    QuotaKey.CONTROLLER_MUTATION_RATE: "Partitions created, added or deleted per second, in the mean of a burst.",
    QuotaKey.CONNECTION_CREATION_RATE: "Connections per second to one broker; 0: none is served.",
}
_BYTES = (QuotaKey.PRODUCER_BYTE_RATE, QuotaKey.CONSUMER_BYTE_RATE)
_UNITS = {
    QuotaKey.REQUEST_PERCENTAGE: " %",
    QuotaKey.CONTROLLER_MUTATION_RATE: " / s",
    QuotaKey.CONNECTION_CREATION_RATE: " / s",
}
#: From here on a number says that there shall be no limit.
_BOUNDLESS = 2**62


def label(key: str) -> str:
    return _LABELS[QuotaKey(key)]


def hint(key: str) -> str:
    return _HINTS[QuotaKey(key)]


def amount(key: str, value: float) -> str:
    """Format `1.05 MB / s`, `12.5 %`; in words where the number stands for no limit."""
    if value >= _BOUNDLESS:
        return "unlimited"
    if key in _BYTES:
        return f"{size(round(value))} / s"
    text = grouped(round(value)) if value >= 1_000 or value == int(value) else f"{value:.2f}".rstrip("0").rstrip(".")
    return f"{text}{_UNITS[QuotaKey(key)]}"


def exact(key: str, value: float) -> str:
    """Format the exact value, with the bytes that `amount` rounds."""
    return f"{value:.0f} ({amount(key, value)})" if key in _BYTES and value >= 1_000 else amount(key, value)


def value_of(key: str, typed: str) -> float | None:
    """Return the number that was typed, of bytes perhaps with a unit; None for what is none."""
    if key in _BYTES:
        digits = whole_number(typed.removesuffix("/s").removesuffix("/ s"), SIZES)
        return None if digits is None else float(digits)
    try:
        return float(typed.replace("\u202f", "").replace(" ", "").removesuffix("%").removesuffix("/s"))
    except ValueError:
        return None
