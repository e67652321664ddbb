"""Requests made up from their declarations: of every API and version, with names, numbers and sizes that mean harm.

A value is chosen by what its field is called: topics, epochs, offsets and ids come from pools of the known, the
extreme and the impossible. What a broker answered goes into the pools too (`learn`), so that member ids, producer
epochs and session ids that it believes come back to it out of order.
"""

import random
from collections import defaultdict, deque
from typing import Any
from uuid import UUID

from broker.protocol.primitives import ZERO_UUID, Array, Primitive
from broker.protocol.schema import Message, Struct, WireField
from broker.records.batch import Compression
from broker.records.builder import build_batch
from broker.records.record import Record

INT_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16}
#: How many values of one name are remembered.
_LEARNED_MAX = 40
#: Elements of the largest arrays; the frame's size bounds what is sent of them.
_MANY = (200, 2_000, 30_000)
_ARRAY_BYTES_MAX = 4_000_000
_TOPIC_NAMES = ("topic", "topics", "topic_name", "name", "resource_name", "topic_names")


def hostile_names(outside: str) -> tuple[str, ...]:
    """Names no topic, group or id may have; `outside` is a directory that must stay as it is."""
    return (
        "",
        ".",
        "..",
        "/",
        "a/b",
        "../outside",
        "../../../../../../tmp/outside",
        outside + "/made",
        outside + "/victim",
        f"..{outside}/victim",
        "a" * 249,
        "a" * 250,
        "a" * 300,
        "b" * 32_000,
        "nul\0nul",
        "line\nlevel=error event=forged",
        "\x1b[2J",
        "\u2028",
        "ä" * 200,
        "%s%n",
        "__consumer_offsets",
        "__transaction_state",
        "t-0",
        "t-0.deadbeef-delete",
    )


class Pools:
    """Where values come from."""

    def __init__(self, chance: random.Random, topics: tuple[str, ...], outside: str):
        self._chance = chance
        self._topics = topics
        self._hostile = hostile_names(outside)
        self._learned: dict[str, deque[Any]] = defaultdict(lambda: deque(maxlen=_LEARNED_MAX))
        self._batches = _batches(chance)

    def know(self, **values: Any) -> None:
        """What somebody who has looked around has seen, by the names of fields."""
        for name, value in values.items():
            self._learned[name].append(value)

    def learn(self, message: Struct) -> None:
        """Keep what a response says, by the names of its fields."""
        for field in message.fields:
            value = getattr(message, field.name)
            if isinstance(value, Struct):
                self.learn(value)
            elif isinstance(value, list):
                for item in value[:20]:
                    if isinstance(item, Struct):
                        self.learn(item)
            elif isinstance(value, int | str | UUID) and not isinstance(value, bool):
                self._learned[field.name].append(value)

    def request(self, message_class: type[Message], version: int) -> Message:
        """A request that `version` can express."""
        return self._struct(message_class, version, depth=0)

    def _struct(self, struct: type[Struct], version: int, depth: int) -> Any:
        made = struct()
        for field in struct.fields:
            if field.exists_in(version) and not (field.tag is not None and self._chance.random() < 0.5):
                setattr(made, field.name, self._value(field, version, depth))
        return made

    def _value(self, field: WireField, version: int, depth: int) -> Any:
        if field.nullable_in(version) and self._chance.random() < 0.1:
            return None
        if isinstance(field.type, Array):
            return self._array(field, version, depth)
        if isinstance(field.type, Primitive):
            return self._primitive(field.type.name, field.name)
        return self._struct(field.type, version, depth + 1)

    def _array(self, field: WireField, version: int, depth: int) -> list[Any]:
        size = self._size(depth)
        fresh = [self._element(field, version, depth) for _ in range(min(size, 6))]
        # What is beyond a frame would be made to be cut off: arrays of arrays of long names are gigabytes.
        heaviest = max(map(_weight, fresh), default=1)
        size = min(size, max(len(fresh), _ARRAY_BYTES_MAX // heaviest))
        # The same ones again and again are as much work for a broker, and hardly any to make.
        return [fresh[number % len(fresh)] for number in range(size)]

    def _element(self, field: WireField, version: int, depth: int) -> Any:
        element = field.type.element
        if isinstance(element, Primitive):
            return self._primitive(element.name, field.name)
        return self._struct(element, version, depth + 1)

    def _size(self, depth: int) -> int:
        dice = self._chance.random()
        if dice < 0.1:
            return 0
        if dice < 0.65:
            return 1
        if dice < 0.985 or depth > 2:
            return self._chance.randint(2, 5)
        return self._chance.choice(_MANY[: 3 - depth])

    def _primitive(self, kind: str, name: str) -> Any:
        if kind in INT_BITS:
            return self._integer(kind, name)
        match kind:
            case "string":
                return self._string(name)
            case "boolean":
                return self._chance.random() < 0.5
            case "uuid":
                known = self._learned.get(name)
                return self._chance.choice([*known, ZERO_UUID] if known else [ZERO_UUID, UUID(int=7)])
            case "float64":
                return self._chance.choice((0.0, -1.0, 1e308, float("inf"), float("nan")))
            case "records":
                return self._chance.choice(self._batches)
        return self._chance.choice((b"", b"\0", b"\xff" * 100, self._chance.randbytes(1_000), bytes(200_000)))

    def _integer(self, kind: str, name: str) -> int:
        bits = INT_BITS[kind]
        signed = kind != "uint16"
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        known = self._learned.get(name)
        if known and self._chance.random() < 0.4:
            value = self._chance.choice(known)
            value = value if isinstance(value, int) else 0
            return min(max(value + self._chance.choice((0, 0, 0, 1, -1)), low), high)
        ordinary = self._chance.choice((0, 0, 0, 1, 1, 2, 3, 5, 100))
        extreme = self._chance.choice((low, high, -1, -2, high - 1, low + 1, high // 2))
        value = ordinary if self._chance.random() < 0.7 else extreme
        return min(max(value, low), high)

    def _string(self, name: str) -> str:
        dice = self._chance.random()
        known = [item for item in self._learned.get(name, ()) if isinstance(item, str)]
        if known and dice < 0.3:
            return self._chance.choice(known)
        if name in _TOPIC_NAMES and dice < 0.75:
            return self._chance.choice(self._topics)
        if dice < 0.8:
            return self._chance.choice(("g-1", "g-2", "id-1", "consumer", "range", "127.0.0.1", "1", "PLAINTEXT"))
        return self._chance.choice(self._hostile)


def _weight(value: Any) -> int:
    """About how many bytes it takes in a frame, never 0."""
    if isinstance(value, str | bytes):
        return 4 + len(value)
    if isinstance(value, Struct):
        return 1 + sum(_weight(getattr(value, field.name)) for field in value.fields)
    if isinstance(value, list):
        return 4 + sum(map(_weight, value))
    return 8


def _batches(chance: random.Random) -> list[bytes | None]:
    """Good batches, and what somebody may send in their place."""
    few = [Record(0, 1_000, b"k", b"v" * 50, ())] * 3
    good = [bytes(build_batch(few, compression=item)) for item in Compression]
    made = bytes(build_batch(few, producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True))
    marker = bytes(build_batch([Record(0, 1, b"\0\0\0\1", b"\0\0\0\0\0\0")], is_control=True))
    bomb = bytes(build_batch([Record(0, 1, b"k", bytes(8 << 20), ())], compression=Compression.ZSTD))
    damaged = [_damaged(item, chance) for item in good for _ in range(4)]
    return [None, b"", *good, *good, made, marker, bomb, *damaged, good[0] * 2, good[0][:40], chance.randbytes(500)]


def _damaged(batch: bytes, chance: random.Random) -> bytes:
    changed = bytearray(batch)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)
