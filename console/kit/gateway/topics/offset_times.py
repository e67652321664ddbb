"""The time for which a broker is asked for an offset."""

from confluent_kafka.admin import OffsetSpec


def offset_spec_at(at_ms: int) -> OffsetSpec:
    """Return the spec of the first record of that time or later, ms since the epoch.

    Times before the epoch are asked for as 0: ListOffsets has meanings of its own for negative ones, -1 is the end.
    """
    return OffsetSpec.for_timestamp(max(0, at_ms))
