"""Messages of formats 0 and 1, as Kafka before 0.11 wrote them into its logs."""

import struct
from zlib import crc32


def old_message(offset: int, value: bytes, magic: int, timestamp_ms: int = 1_000) -> bytes:
    """offset int64 · size int32 · CRC-32 uint32 · magic int8 · attributes int8 · timestamp int64 (format 1) · key ·
    value, both with an int32 in front.
    """
    checked = struct.pack(">bb", magic, 0)
    if magic:
        checked += struct.pack(">q", timestamp_ms)
    checked += struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, len(checked) + 4, crc32(checked)) + checked


def old_messages(count: int, magic: int, from_offset: int = 0) -> bytes:
    return b"".join(old_message(offset, b"%d" % offset, magic) for offset in range(from_offset, from_offset + count))
