"""Byte for byte against kio, whose encoder is generated from Kafka's own message files.

kio describes the clients' APIs of Kafka 4.x: the APIs between ZooKeeper-mode brokers and a few oldest versions are
missing there. `test_against_kafka_python` covers the latter.
"""

import dataclasses
import io
import typing
from datetime import UTC, datetime, timedelta

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer
from kio.static.constants import EntityType

from broker.protocol.codec import decode, encode
from broker.protocol.messages import MESSAGES
from broker.protocol.schema import OWN_TAG_MIN, ZERO_UUID

pytestmark = pytest.mark.versions


def _known_to_kio():
    for api, pair in MESSAGES.items():
        kinds = (
            (pair.request, EntityType.request, load_request_schema),
            (pair.response, EntityType.response, load_response_schema),
        )
        for message, kind, load in kinds:
            for version in range(message.versions[0], message.versions[1] + 1):
                if int(api) in api_key_map and kind in schema_name_map[api_key_map[int(api)]].get(version, {}):
                    yield pytest.param(message, load, version, id=f"{message.__name__}-{version}")


KNOWN = list(_known_to_kio())


@pytest.mark.parametrize(("message", "load", "version"), KNOWN)
def test_bytes_are_those_of_kio(message, load, version, sample):
    theirs = load(int(message.api), version)
    for seed in range(5):
        ours = sample(message, version, seed)
        buffer = io.BytesIO()
        entity_writer(theirs)(buffer, _translate(ours, theirs))
        assert encode(ours, version) == buffer.getvalue()
        assert decode(message, buffer.getvalue(), version) == ours


@pytest.mark.parametrize(("message", "load", "version"), KNOWN)
def test_fields_are_those_of_kio(message, load, version):
    assert _paths_of_ours(message, version) == _paths_of_theirs(load(int(message.api), version))


def test_nearly_everything_clients_send_is_compared():
    assert len(KNOWN) == 524


def _translate(ours, theirs):
    """Our message as an instance of kio's class for the same version."""
    values = {}
    for field in dataclasses.fields(theirs):
        name = field.name if hasattr(ours, field.name) else f"{field.name}_ms"
        value = getattr(ours, name)
        struct = _struct_in(field.type)
        if struct is not None and value is None and "tag" in field.metadata:
            continue
        values[field.name] = _translate_value(value, field.metadata.get("kafka_type"), struct)
    return theirs(**values)


def _translate_value(value, kafka_type, struct):
    if value is None or value == ZERO_UUID:
        return None
    if isinstance(value, list):
        return tuple(_translate_value(item, kafka_type, struct) for item in value)
    if struct is not None:
        return _translate(value, struct)
    if kafka_type == "error_code":
        return ErrorCode(value)
    if kafka_type in ("timedelta_i32", "timedelta_i64"):
        return timedelta(milliseconds=value)
    if kafka_type == "datetime_i64":
        return None if value == -1 else datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)
    return value


def _struct_in(annotation):
    """The kio class inside `tuple[X, ...] | None`, if there is one."""
    if dataclasses.is_dataclass(annotation):
        return annotation
    return next(filter(None, map(_struct_in, typing.get_args(annotation))), None)


def _paths_of_ours(kind, version, prefix=""):
    paths = set()
    for field in kind.fields:
        if field.exists_in(version) and (field.tag or 0) < OWN_TAG_MIN:
            paths.add(prefix + field.name.removesuffix("_ms"))
            element = getattr(field.type, "element", field.type)
            if hasattr(element, "fields"):
                paths |= _paths_of_ours(element, version, f"{prefix}{field.name}.")
    return paths


def _paths_of_theirs(kind, prefix=""):
    paths = set()
    for field in dataclasses.fields(kind):
        paths.add(prefix + field.name.removesuffix("_ms"))
        struct = _struct_in(field.type)
        if struct is not None:
            paths |= _paths_of_theirs(struct, f"{prefix}{field.name}.")
    return paths
