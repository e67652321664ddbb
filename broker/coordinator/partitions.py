"""Which partition of an internal topic a group or transactional id belongs to.

Every broker and every tool must agree, so the hash is Java's `String.hashCode` over UTF-16 code units, the sign bit
masked (which differs from the absolute value for one hash, -2**31).
"""

from functools import lru_cache
from struct import iter_unpack

#: Ids whose partition is remembered: whoever commits does so again and again.
_REMEMBERED = 10_000


def java_string_hash(text: str) -> int:
    """Return Java's `String.hashCode` of `text`, a signed 32-bit integer."""
    value = 0
    for (unit,) in iter_unpack("<H", text.encode("utf-16-le", "surrogatepass")):
        value = (31 * value + unit) & 0xFFFF_FFFF
    return value - (1 << 32) if value & 0x8000_0000 else value


@lru_cache(maxsize=_REMEMBERED)
def partition_for(coordinated_id: str, partitions: int) -> int:
    """Return the partition, of `partitions`, whose leader coordinates this group id or transactional id."""
    return (java_string_hash(coordinated_id) & 0x7FFF_FFFF) % partitions
