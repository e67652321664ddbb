"""`.kafka_cleanshutdown`: a log directory was left clean; in it, how the segments of logs without gaps were left.

    "segments", then a line "topic partition checksum" each

Only the file's presence says that the stop was clean. It may be empty (written on a full disk, or by an earlier
version) or hold what Kafka writes into it (KIP-966's broker epoch): then nothing is known of segments. The checksum is
of base offsets and sizes, so a start that finds the same need not read where each segment ends (`gaps.py`): which files
were removed, restored or cut while the broker was down is told by names and sizes.
"""

import struct
from collections.abc import Iterable, Mapping
from zlib import crc32

from broker.common.types import TopicPartition
from broker.log.stored_segment import StoredSegment

_TITLE = "segments"
_SEGMENT = struct.Struct(">qq")


def segments_checksum(segments: Iterable[StoredSegment]) -> int:
    """Return a checksum of the names and sizes of a log's segments, in offset order."""
    return crc32(b"".join(_SEGMENT.pack(segment.base_offset, segment.size_bytes) for segment in segments))


def encode_clean_marker(checksums: Mapping[TopicPartition, int]) -> bytes:
    """Return the file's content; `checksums` are of logs without gaps."""
    lines = [f"{topic} {partition} {checksum}" for (topic, partition), checksum in sorted(checksums.items())]
    return "".join(f"{line}\n" for line in (_TITLE, *lines)).encode()


def decode_clean_marker(content: bytes) -> dict[TopicPartition, int]:
    """Return the checksums; none of a file that is empty, malformed or another product's."""
    try:
        title, *lines = content.decode().splitlines()
        if title != _TITLE or not content.endswith(b"\n"):
            return {}
        return {
            TopicPartition(topic, int(partition)): int(checksum)
            for topic, partition, checksum in (line.split(" ") for line in lines)
        }
    except ValueError:
        return {}
