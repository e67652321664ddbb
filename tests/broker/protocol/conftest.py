"""Random but repeatable messages: every field that Kafka has too filled, sometimes null or empty, sometimes long."""

import random
from uuid import UUID

import pytest

from broker.protocol.schema import (
    OWN_TAG_MIN,
    Array,
    boolean,
    bytes_,
    float64,
    int8,
    int16,
    int32,
    int64,
    records,
    string,
    uint16,
    uuid,
)

_BITS = {int8: 8, int16: 16, int32: 32, int64: 64}


class Sampler:
    """Makes instances of a struct that hold a value in every field of one version."""

    def __init__(self, seed: object):
        self._random = random.Random(repr(seed))

    def struct(self, kind, version):
        present = (field for field in kind.fields if field.exists_in(version))
        return kind(**{field.name: self._field(field, version) for field in present})

    def _field(self, field, version):
        if field.nullable_in(version) and self._random.random() < 0.3:
            return None
        if field.tag is not None and (field.tag >= OWN_TAG_MIN or self._random.random() < 0.4):
            return field.new_default()
        return self._value(field.type, version, field.name)

    def _value(self, kind, version, name):
        if isinstance(kind, Array):
            counts = [0, 1, 2, 3] if hasattr(kind.element, "fields") else [0, 1, 3, 17, 130]
            return [self._value(kind.element, version, name) for _ in range(self._random.choice(counts))]
        if hasattr(kind, "fields"):
            struct = self.struct(kind, version)
            return struct if struct != kind() else self._value(kind, version, name)
        return self._primitive(kind, name)

    def _primitive(self, kind, name):
        choose = self._random
        if name == "error_code" or name.endswith("_error_code"):
            return choose.randint(0, 60)
        if name.endswith("_ms"):
            return choose.randint(0, 2**31 - 1)
        if kind in _BITS:
            half = 1 << (_BITS[kind] - 1)
            return choose.choice(
                [-half, half - 1, -1, choose.randint(-half, half - 1), choose.randint(-half, half - 1)]
            )
        if kind is uint16:
            return choose.randint(0, 0xFFFF)
        if kind is boolean:
            return choose.random() < 0.5
        if kind is float64:
            return choose.uniform(-1e9, 1e9)
        if kind is uuid:
            return UUID(int=choose.getrandbits(128))
        if kind is string:
            return "".join(choose.choices("abcdefgh.-_0123é☃𝄞", k=choose.choice([0, 1, 7, 20, 140])))
        assert kind in (bytes_, records)
        return choose.randbytes(choose.choice([0, 1, 61, 130, 5000]))


@pytest.fixture
def sample():
    """sample(message_class, version, seed=0): the same arguments give the same message."""
    return lambda kind, version, seed=0: Sampler((kind.__name__, version, seed)).struct(kind, version)
