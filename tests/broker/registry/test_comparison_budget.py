"""One budget bounds what comparing two schemas may take, of whatever kind they are."""

import json

import pytest

from broker.registry import comparison_budget
from broker.registry.errors import InvalidSchema
from broker.registry.kinds import parse
from broker.registry.protobuf import compiler

AVRO = {"type": "record", "name": "R", "fields": [{"name": f"f{index}", "type": "int"} for index in range(20)]}
JSON_SCHEMA = {"type": "object", "properties": {f"f{index}": {"type": "string"} for index in range(20)}}
PROTOBUF = 'syntax = "proto3"; message M {' + "".join(f"int32 f{index} = {index};" for index in range(1, 20)) + "}"
ENUM = 'syntax = "proto3"; enum E {' + "".join(f"V{index} = {index};" for index in range(20)) + "}"
SCHEMAS = [("AVRO", json.dumps(AVRO)), ("JSON", json.dumps(JSON_SCHEMA)), ("PROTOBUF", PROTOBUF), ("PROTOBUF", ENUM)]


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    compiler.close()


@pytest.mark.parametrize(("kind", "text"), SCHEMAS)
def test_a_comparison_without_steps_left_is_refused(kind, text, monkeypatch):
    parsed = parse(kind, text, ())
    assert parsed.incompatibilities(parsed, lenient=False) == []
    monkeypatch.setattr(comparison_budget, "REGISTRY_COMPARISON_STEPS_MAX", 15)
    with pytest.raises(InvalidSchema, match="comparing it takes too long: it is combined"):
        parsed.incompatibilities(parsed, lenient=False)
