"""Which partition a row goes to: the one it names, else the one of its key, as Java's clients and ours choose it."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SEED, _M = 0x9747B28C, np.uint32(0x5BD1E995)


def partitions_of(key: pa.Array, named: np.ndarray | None, count: int, keyless: int) -> np.ndarray:
    """Return a partition for each row. `named` holds -1 where a row names none; rows without key go to `keyless`.

    ValueError for a row that names a partition the topic of `count` partitions does not have.
    """
    chosen = np.full(len(key), keyless, np.int64)
    keyed = np.flatnonzero(pc.is_valid(key).to_numpy(zero_copy_only=False))
    if keyed.size:
        chosen[keyed] = (_murmur2(key.take(pa.array(keyed))) & np.uint32(0x7FFFFFFF)) % count
    if named is not None:
        wrong = named[(named >= count) | (named < -1)]
        if wrong.size:
            raise ValueError(f"a row names partition {wrong[0]}, the topic has {count}")
        chosen = np.where(named >= 0, named, chosen)
    return chosen


def _murmur2(keys: pa.Array) -> np.ndarray:
    """Hash each key; four bytes of all keys at a time."""
    edges = np.frombuffer(keys.buffers()[1], np.int32)[keys.offset : keys.offset + len(keys) + 1].astype(np.int64)
    data = np.frombuffer(bytes(keys.buffers()[2] or b"") + bytes(4), np.uint8)
    start, length = edges[:-1], np.diff(edges)
    hashes = np.uint32(_SEED) ^ length.astype(np.uint32)
    for word in range(int(length.max()) // 4):
        rows = np.flatnonzero(length >= 4 * word + 4)
        hashes[rows] = hashes[rows] * _M ^ _mixed(_word_at(data, start[rows] + 4 * word, 4))
    tail_at, tail = start + length // 4 * 4, length % 4
    for size in (1, 2, 3):
        rows = np.flatnonzero(tail == size)
        hashes[rows] = (hashes[rows] ^ _word_at(data, tail_at[rows], size)) * _M
    hashes ^= hashes >> np.uint32(13)
    hashes *= _M
    return hashes ^ hashes >> np.uint32(15)


def _mixed(word: np.ndarray) -> np.ndarray:
    word = word * _M
    mixed: np.ndarray = (word ^ word >> np.uint32(24)) * _M
    return mixed


def _word_at(data: np.ndarray, at: np.ndarray, size: int) -> np.ndarray:
    """Return 32 bits, little endian."""
    word = np.zeros(len(at), np.uint32)
    for byte in range(size):
        word |= data[at + byte].astype(np.uint32) << np.uint32(8 * byte)
    return word
