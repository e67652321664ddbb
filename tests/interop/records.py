"""The records every client writes and must read back equal."""

from typing import NamedTuple

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
PARTITIONS = 3
COUNT = 10_000


class Sent(NamedTuple):
    key: bytes
    value: bytes
    headers: tuple[tuple[str, bytes], ...]


def records(codec: str, count: int = COUNT) -> list[Sent]:
    """Distinct keys, values of varying length (some empty), two headers, one of them with an empty value."""
    return [
        Sent(
            f"key-{number}".encode(),
            f"{codec}-{number}-".encode() * (number % 7),
            (("codec", codec.encode()), ("empty", b"")),
        )
        for number in range(count)
    ]


def in_order(received: list[tuple[int, int, Sent]]) -> list[Sent]:
    """Records by number, after checking that each partition's offsets are contiguous and increasing."""
    by_partition: dict[int, list[int]] = {}
    for partition, offset, _ in received:
        by_partition.setdefault(partition, []).append(offset)
    for partition, offsets in by_partition.items():
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets))), f"offsets of partition {partition}"
    return sorted((sent for _, _, sent in received), key=lambda sent: int(sent.key[4:]))
