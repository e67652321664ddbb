"""The partition that a key belongs to by the default partitioner of Kafka's Java client: murmur2 of its bytes. Pure.

A producer may choose partitions otherwise: librdkafka's default is CRC32 (`consistent_random`), and partitions that
were added since move keys. What is made of the number is an assumption, and is named as one.
"""

_SEED, _M, _R, _MASK = 0x9747B28C, 0x5BD1E995, 24, 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Compute `org.apache.kafka.common.utils.Utils.murmur2`, as an unsigned 32-bit number."""
    value = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        word = (word ^ word >> _R) * _M & _MASK
        value = (value * _M & _MASK) ^ word
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * _M & _MASK
    value = (value ^ value >> 13) * _M & _MASK
    return value ^ value >> 15


def partition_of_key(key: str, partition_count: int) -> int | None:
    """Return the partition of a key that is written as UTF-8, or None for a topic without partitions."""
    return (murmur2(key.encode()) & 0x7FFFFFFF) % partition_count if partition_count > 0 else None
