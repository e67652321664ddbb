"""kafka-python's decoder, a third implementation, reads what we write: field by field, old versions included."""

import importlib
import pkgutil

import pytest

from broker.protocol.codec import decode, encode
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.api_versions import ApiVersionsResponse
from broker.protocol.schema import Struct


def _their_classes():
    found = {}
    for package in ("admin", "consumer", "producer", "metadata"):
        root = importlib.import_module(f"kafka.protocol.{package}")
        for module in pkgutil.iter_modules(root.__path__, f"kafka.protocol.{package}."):
            found |= vars(importlib.import_module(module.name))
    return found


THEIRS = _their_classes()
#: They turn these into sets of bits; test_against_kio compares them.
BITFIELDS = {"authorized_operations", "topic_authorized_operations", "cluster_authorized_operations"}
BOTH = [
    pytest.param(message, THEIRS[message.__name__], version, id=f"{message.__name__}-{version}")
    for pair in MESSAGES.values()
    for message in pair
    if message.__name__ in THEIRS
    for version in range(message.versions[0], message.versions[1] + 1)
    # kafka-python reads every ApiVersions response that carries an error as version 0.
    if message is not ApiVersionsResponse
]


@pytest.mark.parametrize(("message", "theirs", "version"), BOTH)
def test_kafka_python_reads_the_same_values(message, theirs, version, sample):
    for seed in range(3):
        ours = sample(message, version, seed)
        _assert_same(ours, theirs.decode(encode(ours, version), version=version), version)


@pytest.mark.parametrize(("message", "theirs", "version"), BOTH)
def test_what_kafka_python_writes_reads_the_same(message, theirs, version, sample):
    ours = sample(message, version, 7)
    decoded = theirs.decode(encode(ours, version), version=version)
    decoded._header = None  # their encoder looks for it, their decoder does not set it
    assert decode(message, bytes(decoded.encode(version=version)), version) == ours


def test_every_api_of_clients_is_compared():
    assert {each.values[0].api for each in BOTH} == {api for api in MESSAGES if api not in (4, 5, 6, 7)}


def _assert_same(ours, theirs, version):
    for field in ours.fields:
        if not field.exists_in(version) or field.name in BITFIELDS:
            continue
        mine, other = getattr(ours, field.name), getattr(theirs, field.name, None)
        if field.tag is not None and mine == field.new_default():
            continue  # nothing is on the wire; their default may be another than ours
        if isinstance(mine, Struct):
            _assert_same(mine, other, version)
        elif isinstance(mine, list) and mine and isinstance(mine[0], Struct):
            assert len(mine) == len(other), field.name
            for one, another in zip(mine, other, strict=True):
                _assert_same(one, another, version)
        else:
            assert other == mine, field.name
