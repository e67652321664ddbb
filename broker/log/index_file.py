"""What the two index files of a segment have in common: big endian entries, perhaps followed by preallocated zeros."""

import os
import sys
from array import array
from operator import ge
from pathlib import Path

from broker.log.files import TEMPORARY_SUFFIX, SharedFile, write_at


def used_bytes(data: bytes, entry_bytes: int) -> int:
    """Return how many bytes are whole entries; Kafka preallocates index files with zeros."""
    used = len(data.rstrip(b"\0")) + entry_bytes - 1
    return min(used, len(data)) // entry_bytes * entry_bytes


def is_increasing(values: "array[int]", at_least: int) -> bool:
    """Return whether each value is larger than the one before, and the first is not below `at_least`."""
    return not values or (values[0] >= at_least and not any(map(ge, values, values[1:])))


def swap_to_big_endian(entries: "array[int]") -> "array[int]":
    """Swap the byte order of the entries in place, and return them."""
    if sys.byteorder == "little":
        entries.byteswap()
    return entries


def put_in_place(path: Path, content: bytes) -> None:
    """Replace the file atomically, without fsync."""
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    write_at(SharedFile(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), content, 0)
    temporary.replace(path)
