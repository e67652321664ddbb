"""What a member of the consumer protocol was assigned, read from the bytes its leader wrote: Kafka's classic encoding.

version int16, then for each topic its name (int16 length) and its partitions (int32 each); user data follows
"""

from struct import Struct, error

from broker.common.types import TopicPartition

_INT16, _INT32 = Struct(">h"), Struct(">i")


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """Decode the assigned partitions, which all versions start with; () for bytes that cannot be read: any client may
    have written them.
    """
    places: list[TopicPartition] = []
    at = _INT16.size
    try:
        (topic_count,), at = _INT32.unpack_from(data, at), at + _INT32.size
        for _ in range(topic_count):
            (length,), at = _INT16.unpack_from(data, at), at + _INT16.size
            topic, at = data[at : at + length].decode(), at + length
            (partition_count,), at = _INT32.unpack_from(data, at), at + _INT32.size
            for _ in range(partition_count):
                (partition,), at = _INT32.unpack_from(data, at), at + _INT32.size
                places.append(TopicPartition(topic, partition))
    except (error, UnicodeDecodeError):
        return ()
    return tuple(sorted(places))
