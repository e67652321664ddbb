"""Whatever reads what a client, an operator's form or another program wrote, each with valid inputs to begin with."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import SimpleNamespace
from typing import Any

import orjson

from broker.client.visible_batches import visible_batches
from broker.common.bounded_patterns import has_few_ways
from broker.common.errors import ApiError, BarnabasError
from broker.common.header_rules import read_rules
from broker.common.own_names import OwnNames
from broker.common.types import TopicPartition
from broker.config.authorizer import parse_super_users
from broker.config.definition import parse_list
from broker.config.listeners import parse_endpoints, parse_protocol_map
from broker.config.network import parse_host_limits
from broker.config.properties import parse_properties
from broker.config.topic import parse_throttled_replicas
from broker.connect.api.config import ConfigDef, ConfigKey, ConfigType
from broker.connect.api.errors import ConfigError, DataError
from broker.connect.group.assignment import Balancer
from broker.connect.group.wire import Metadata, Unit, WorkerAssignment, decode_metadata, encode_metadata
from broker.connect.plugins.directory.parsing import parse_json, split_row
from broker.connect.providers import Providers
from broker.connect.storage.configurations import Configurations
from broker.connect.tasks.pipeline import _transforms
from broker.connect.transforms.patterns import date_format, java_regex, java_replacement
from broker.coordinator.consumer_group.embedded import decode_assignment, decode_subscription, encode_assignment
from broker.coordinator.consumer_group.patterns import topics_matching
from broker.coordinator.consumer_group.records import (
    CurrentMemberValue,
    CurrentTopicPartitions,
    decode_value,
    encode_value,
)
from broker.coordinator.group.records import decode_group_value
from broker.keystores.files import certificates, private_key
from broker.log.compaction.record_spans import unpack_batch
from broker.log.timestamps import find_timestamp
from broker.mirror.batches import copy_of
from broker.probe.fetching import marks_of
from broker.protocol.codec import decode, encode
from broker.protocol.messages import MESSAGES
from broker.protocol.messages.fetch import PartitionData
from broker.protocol.primitives import Array
from broker.protocol.schema import Struct
from broker.records.batch import HEADER_BYTES, Compression, iterate_headers, parse_batch_header
from broker.records.builder import build_batch
from broker.records.compression import decompress
from broker.records.control import parse_marker
from broker.records.record import Record, decode_records, iterate_records
from broker.registry.avro.compatibility import incompatibilities as avro_incompatibilities
from broker.registry.avro.parsing import parse as parse_avro
from broker.registry.avro.printing import canonical, normalized
from broker.registry.json_schema.schema import parse as parse_json_schema
from broker.registry.protobuf.comparison import differences as protobuf_differences
from broker.registry.protobuf.map_entries import without_map_entries
from broker.registry.protobuf.printing import text_of as protobuf_text
from broker.registry.store import SchemaStore
from broker.security.bearer_tokens import read_header
from broker.security.distinguished_name import java_name
from broker.security.principal_rules import PrincipalRules
from broker.security.quotas.entities import entity_at, entity_of
from broker.security.sasl.jaas import parse_jaas
from broker.zookeeper.acl_znodes import decode_acls
from broker.zookeeper.admin_znodes import decode_election_request, decode_reassignment_request
from broker.zookeeper.ensemble_config import parse_config
from broker.zookeeper.server_file import read_server_file
from broker.zookeeper.znodes import decode_broker, decode_topic
from console.automation.declared.declaration import DeclarationError
from console.automation.declared.parsing import parse as parse_declaration
from console.cluster.brokers.doors import parse_protocols
from console.cluster.notes.note_text import parse_labels, parse_links
from console.cluster.placement.move import parse_targets
from console.cluster.records import cbor, json_layout, message_pack
from console.cluster.records.columns import parse_columns
from console.cluster.records.expression_child import _BOUND
from console.cluster.records.masking import MaskingError, parse_masking
from console.cluster.records.matching import TextMatcher
from console.cluster.records.protobuf_wire import wire_text
from console.cluster.records.query import SEARCH_LENGTH_MAX, read_cursor
from console.cluster.records.xml_layout import laid_out_xml
from console.cluster.topics.own_settings import parse_settings
from console.ecosystem.connectors.typed import TypedError, from_json, from_lines
from console.kit.access.log_tail import sentence_within
from console.kit.access.reach import EVERYTHING
from console.kit.common.csv_table import csv_chunks
from console.kit.common.partition_numbers import parse_partitions
from console.kit.gateway.groups.unread import unread_in
from console.kit.gateway.records.interface import RecordView
from console.people.sso.group_rules import GroupRulesError, TooManyRulesError
from console.people.sso.group_rules import parse_rules as parse_group_rules
from console.signals.alerts.rules import AlertRulesError as AlertRulesError
from console.signals.alerts.rules import parse_rules as parse_alert_rules
from tests.fuzz.growth import Target
from tests.fuzz.growth_inputs import PACKED_PARTS, Pump, bytes_pump, document_pump, packed_pump, text_pump

LAYOUT_MAX = 10_000_000


def texts(name: str, read: Callable[[str], Any], *seeds: str, refusals: tuple[type[BaseException], ...] = ()) -> Target:
    return Target(
        name, read, lambda chance: text_pump(chance.choice(seeds), chance), (ValueError, BarnabasError, *refusals)
    )


def binaries(name: str, read: Callable[[bytes], Any], *seeds: bytes) -> Target:
    return Target(
        name, read, lambda chance: bytes_pump(chance.choice(seeds), chance), (ValueError, IndexError, BarnabasError)
    )


def documents(name: str, read: Callable[[Any], Any], *seeds: Any) -> Target:
    refusals = (ValueError, KeyError, TypeError, AttributeError, BarnabasError)
    return Target(name, read, lambda chance: document_pump(chance.choice(seeds), chance), refusals)


# -- schemas

AVRO = (
    {"type": "record", "name": "R", "fields": [
        {"name": "F", "type": ["null", "int"], "default": None},
        {"name": "G", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}, "aliases": ["H"]},
        {"name": "I", "type": {"type": "array", "items": {"type": "fixed", "name": "X", "size": 4, "aliases": ["Y"]}}},
    ], "aliases": ["S"], "prop": {"A": 1}},
    ["null", {"type": "record", "name": "P", "fields": [{"name": "F", "type": "int"}]},
     {"type": "record", "name": "Q", "fields": [{"name": "F", "type": {"type": "map", "values": "P"}}]}],
)  # fmt: skip

JSON_SCHEMAS = (
    {"type": "object", "properties": {"A": {"type": "string"}, "B": {"type": "array", "items": [{"type": "integer"}]}},
     "required": ["A", "B"], "dependencies": {"A": ["B"]}, "additionalProperties": False},
    {"anyOf": [{"type": "string", "maxLength": 4}, {"enum": ["A", {"B": ["C"]}]}, {"const": 5}],
     "definitions": {"A": {"type": "object", "properties": {"A": {"$ref": "#/definitions/A"}}}}},
    {"type": "object", "properties": {"A": {"allOf": [{"required": ["A"]}, {"minProperties": 1}]}}},
)  # fmt: skip


def renamed(schema: Any) -> Any:
    """The same with other names, so that nothing of one is in the other."""
    text = json.dumps(schema)
    for name in "ABEFGHIPQRSXY":
        text = text.replace(f'"{name}', f'"z{name}')
    return json.loads(text)


def compare_avro(schema: Any, other: Any) -> None:
    avro_incompatibilities(parse_avro(json.dumps(schema))[0], parse_avro(json.dumps(other))[0])


def print_avro(schema: Any) -> None:
    parsed = parse_avro(json.dumps(schema))[0]
    canonical(parsed)
    normalized(parsed)


def compare_json_schemas(schema: Any, other: Any) -> None:
    one, two = (parse_json_schema(json.dumps(item), (), is_new=False) for item in (schema, other))
    one.incompatibilities(two, lenient=False)
    one.normalized()


def protobuf_file(shape: Mapping[str, Any], prefix: str = "") -> Any:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

    file = FileDescriptorProto(name="f")
    for at, message in enumerate(shape["messages"]):
        made = file.message_type.add(name=f"M{at}")
        for number, oneof in enumerate(message["fields"]):
            field = made.field.add(
                name=f"{prefix}f{number}", number=number + 1, type=FieldDescriptorProto.TYPE_INT32, label=1
            )
            if oneof:
                field.oneof_index = len(made.oneof_decl)
                made.oneof_decl.add(name=f"{prefix}o{number}")
    for at, count in enumerate(shape["enums"]):
        enum = file.enum_type.add(name=f"E{at}")
        for number in range(len(count)):
            enum.value.add(name=f"{prefix}V{number}", number=number)
    return file


PROTOBUF = {"messages": [{"fields": [True, False]}, {"fields": [True]}], "enums": [["V"]]}


def compare_protobuf(shape: Any) -> None:
    protobuf_differences([protobuf_file(shape)], [protobuf_file(shape, "other")])


# -- protocol frames


def frame_targets() -> list[Target]:
    """Decoding a request of each API, one of whose arrays grows."""
    return [_frame_target(api.name, pair.request) for api, pair in MESSAGES.items() if _arrays(pair.request, ())]


def _frame_target(name: str, request: Any) -> Target:
    version = request.versions[1]

    def pumps(chance: random.Random) -> Pump[bytes]:
        path = chance.choice(_arrays(request, ()))
        return Pump(".".join(path), lambda count: encode(_filled(request, version, path, count), version))

    return Target(f"request {name}", lambda frame: decode(request, frame, version), pumps, (BarnabasError,))


def _arrays(struct: Any, path: tuple[str, ...]) -> list[tuple[str, ...]]:
    collected = []
    for field in struct.fields:
        if isinstance(field.type, Array):
            collected.append((*path, field.name))
        inner = field.type.element if isinstance(field.type, Array) else field.type
        if isinstance(inner, type) and issubclass(inner, Struct):
            collected += _arrays(inner, (*path, field.name))
    return collected


_OF_KIND = {"string": "t", "uuid": None, "boolean": False, "float64": 0.0, "bytes": b"x", "records": b""}


def _filled(struct: Any, version: int, path: Sequence[str], count: int) -> Any:
    """An instance in which the array at the path has `count` elements, and those on the way to it one."""
    made = struct()
    for field in struct.fields:
        if not path or field.name != path[0] or not field.exists_in(version):
            continue
        is_array = isinstance(field.type, Array)
        inner = field.type.element if is_array else field.type
        is_struct = isinstance(inner, type) and issubclass(inner, Struct)
        element = _filled(inner, version, path[1:], count) if is_struct else _OF_KIND.get(inner.name, 0)
        if element is not None:
            setattr(made, field.name, [element] * (count if len(path) == 1 else 1) if is_array else element)
    return made


def batch_targets() -> list[Target]:
    def of_records(count: int) -> bytes:
        return bytes(build_batch([Record(0, 1, b"k", b"v")] * count))

    def of_headers(count: int) -> bytes:
        return bytes(build_batch([Record(0, 1, b"k", b"v", tuple((f"h{index}", b"v") for index in range(count)))]))

    return [
        Target(f"records by {name}", decode_records, lambda _, of=of, name=name: Pump(name, of), (BarnabasError,))
        for name, of in (("count", of_records), ("headers", of_headers))
    ]


def in_turns(batch: bytes) -> None:
    """As the record reader goes through a batch: a few records at a time, which the next ones replace."""
    records = iterate_records(parse_batch_header(batch), decompress(Compression.ZSTD, batch[HEADER_BYTES:]))
    while list(islice(records, 1_000)):
        pass


def into_arrow(batch: bytes) -> None:
    from broker.spark.rows import in_portions, to_arrow  # pandas takes a second

    for portion in in_portions(visible_batches(memoryview(batch), None)):
        for _ in to_arrow(portion, TopicPartition("t", 0), 0, 2**40, with_headers=True):
            pass


def offset_of_time(batch: bytes) -> None:
    segment = SimpleNamespace(
        max_timestamp=2**40, read_batch=lambda *_: batch, batches_from_timestamp=lambda _: iterate_headers(batch)
    )
    find_timestamp([segment], 0, 0)


def fetched_of(batch: bytes) -> PartitionData:
    return PartitionData(partition_index=0, error_code=0, high_watermark=2**40, last_stable_offset=0, records=batch)


#: What reads a batch that a client packed: of each as much is held as is bounded, whatever it unpacks to.
PACKED_TARGETS = [
    Target(name, read, lambda chance: packed_pump(chance.choice(PACKED_PARTS)), (IndexError, BarnabasError))
    for name, read in {
        "records of a batch": decode_records,
        "records in turns": in_turns,
        "records into Arrow": into_arrow,
        "records of a compacted topic": lambda batch: unpack_batch(parse_batch_header(batch), batch),
        "offset of a time": offset_of_time,
        "first record that is not read": lambda batch: unread_in(fetched_of(batch), 1),
        "batch for another cluster": lambda batch: copy_of(parse_batch_header(batch), memoryview(batch), 1),
        "records of the probe": lambda batch: marks_of(fetched_of(batch), 0),
        "end of a transaction": parse_marker,
    }.items()
]


# -- configurations


def chain(names: list[str]) -> dict[str, str]:
    """A connector's transforms."""
    props = {"transforms": ",".join(names)}
    for name in names:
        props |= {f"transforms.{name}.type": "org.apache.kafka.connect.transforms.Filter"}
        props |= {f"transforms.{name}.predicate": name, f"predicates.{name}.name": name}
        props |= {
            f"predicates.{name}.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
        }
    return props


def definition(names: list[str]) -> None:
    keys = ConfigDef(*(ConfigKey(name, ConfigType.LIST, "") for name in names))
    keys.validate(dict.fromkeys(names, "x") | {f"{name}.unknown": "x" for name in names})


def of_names(name: str, read: Callable[[list[str]], Any]) -> Target:
    refusals = (ValueError, BarnabasError)
    return Target(name, read, lambda _: Pump("names", lambda count: [f"n{index}" for index in range(count)]), refusals)


def versions_in(store_of: list[str]) -> None:
    """Versions of one subject, written in the wrong order."""
    from broker.registry.records import SchemaKey, schema_record
    from broker.registry.schema import Content, Version

    store = SchemaStore()
    for number in range(len(store_of), 0, -1):
        version = Version("s", number, number, Content("AVRO", f'"{number}"'))
        store.apply(SchemaKey("s", number), schema_record(version).value)


def znode(read: Callable[[str, bytes], Any]) -> Callable[[Any], Any]:
    return lambda document: read("/x", orjson.dumps(document))


PROPERTIES = "a.b=c\\\n  d\n# e\nf : g\\u0041\n"
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_a="b" user_c="d\\"e";'
DECLARATION = """topics:
  - name: a
    partitions: 3
    config: {retention.ms: 5, cleanup.policy: compact}
rules:
  - principal: User:a
    topic: b
    allow: [read, write]
"""
#: Of version 1: two topics, no user data, two partitions of one topic.
SUBSCRIPTION = b"\0\1\0\0\0\2\0\1t\0\1u\xff\xff\xff\xff\0\0\0\1\0\1t\0\0\0\2\0\0\0\0\0\0\0\1"
GROUP_VALUE = (
    b"\0\3\0\1c\0\0\0\1\0\1p\0\1l" + bytes(8) + b"\0\0\0\1\0\1m\xff\xff\0\1c\0\1h" + bytes(8) + b"\0\0\0\0" * 2
)
CURRENT_MEMBER_VALUE = encode_value(
    CurrentMemberValue(assigned_partitions=[CurrentTopicPartitions(partitions=[0, 1], assignment_epochs=[1, 2])])
)


#: CN=kafka1,C=DE
DISTINGUISHED_NAME = bytes.fromhex("301e310b3009060355040613024445310f300d06035504030c066b61666b6131")


def laid_out(text: str) -> None:
    if json_layout.is_document(text):
        json_layout.laid_out(text, LAYOUT_MAX)
        json_layout.tree(text, LAYOUT_MAX)


# -- what runs in a process of its own, without that process


def compile_expression(text: str) -> None:
    """As the child does that evaluates a search, which the console cuts off: errors of `cel` take the square of it."""
    import cel

    text = text[:SEARCH_LENGTH_MAX]
    program = cel.compile(text)
    _BOUND.findall(text)
    program.variables()


def search_text(text: str) -> None:
    record = RecordView(partition=0, offset=0, at_ms=0, key=text.encode(), value=None, headers=())
    TextMatcher("growth", text[: len(text) // 2] + "x", "any")(record)


def has_java_pattern(text: str) -> None:
    has_few_ways(java_regex("regex", text).pattern)


def has_re2_pattern(text: str) -> None:
    topics_matching(text, ["aab", "orders-1"])


def replace_as_java(text: str) -> None:
    java_replacement("r", text, java_regex("r", "(?<n>a)"))(("a", "a"))


def read_providers(text: str) -> None:
    providers = {"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"}
    Providers(providers).resolve({"key": text})


def read_pem(text: str) -> None:
    certificates(text, "file")
    private_key(text, "file")


def quota_entities(document: Any) -> None:
    for entity in document:
        parts = [(part["type"], part["name"]) for part in entity]
        quota_entity = entity_at(entity_of(parts).path)
        assert quota_entity is not None
        quota_entity.parts  # noqa: B018  (names are read)


def print_protobuf(shape: Any) -> None:
    protobuf_text([protobuf_file(shape)])
    protobuf_text([protobuf_file(shape)], sorts=True)


def apply_connect_records(document: Any) -> None:
    configurations = Configurations()
    for offset, (key, value) in enumerate(document):
        configurations.apply(key.encode(), orjson.dumps(value), offset)
    configurations.units()


def collect_references(names: list[str]) -> None:
    """Each schema refers to the one before; the last one to all."""
    from broker.registry.records import schema_record
    from broker.registry.registering import referred
    from broker.registry.schema import Content, SchemaReference, Version

    store, before = SchemaStore(), ()
    for number, name in enumerate(names, start=1):
        record = schema_record(Version(name, 1, number, Content("AVRO", name, before)))
        store.apply(record.key, record.value)
        before = (SchemaReference(name, name, 1),)
    everything = Content("AVRO", "all", tuple(SchemaReference(name, name, 1) for name in names))
    referred(store, ".", everything, also_deleted=False)


def unions_of_one_name(names: list[str]) -> None:
    """Records of one local name, each in a namespace of its own."""
    union = [{"type": "record", "name": "R", "namespace": name, "fields": []} for name in names]
    compare_avro(union, union)


def assignment_of(names: list[str]) -> None:
    units = frozenset(Unit(name, task) for name in names for task in (-1, 0))
    assignment = WorkerAssignment("w", "u", 1, units, units)
    decode_metadata(encode_metadata(Metadata("u", 1, assignment), 2))
    Balancer(0).assign(0, 1, 0, units, {"a": units, "b": frozenset()})


ASSIGNMENT = encode_metadata(Metadata("u", 1, WorkerAssignment("w", "u", 1, frozenset({Unit("c", 0)}))), 2)
JAVA_PATTERN = r"a(?<n>[b-d]+|e\z)*\k<n>f{2,3}"
DATE = date_format("f", "MMM'a'EEE'a'MMM'1'y'1'y'1'y.S")
PEM = """-----BEGIN CERTIFICATE-----
MIIB
-----END CERTIFICATE-----
-----BEGIN EC PRIVATE KEY-----
MIIC
-----END EC PRIVATE KEY-----
"""
PROTOBUF_TEXT = """syntax = "proto3"; // c
message M { /* d */ message AEntry { option map_entry = true; string key = 1; } string b = 2 [default = "\\"x"]; }
"""
CONNECT_RECORDS = [
    ["connector-C", {"properties": {"A": "b"}}], ["task-C-0", {"properties": {"A": "b"}}], ["commit-C", {"tasks": 1}],
    ["target-state-C", {"state": "PAUSED"}],
]  # fmt: skip

TARGETS = [
    texts("CEL", compile_expression, "value.a > 5 && headers.exists(h, h == 'x') || !(key in ['a', \"b\"])"),
    texts("search of records", search_text, "aab", "key"),
    texts("pattern of Java", has_java_pattern, JAVA_PATTERN, "a[[:", refusals=(ConfigError,)),
    texts("pattern of RE2", has_re2_pattern, "(?i)a{2,9}(b|[^c-d\\pL])*?", "(a*)*", refusals=(ApiError,)),
    texts("replacement of Java", replace_as_java, "$1 ${n} \\$", refusals=(ConfigError,)),
    texts("date format", lambda text: date_format("f", text), "yyyy-MM-dd'T'HH:mm:ss''Z", refusals=(ConfigError,)),
    texts("date", DATE.parse, "JanaMonaFeb1111111.5", "1", "a", refusals=(ValueError,)),
    texts("config providers", read_providers, "a ${env:b:c} ${", "${env:HOME}"),
    texts("PEM", read_pem, PEM),
    texts("Protobuf text", without_map_entries, PROTOBUF_TEXT),
    texts("partitions of a form", parse_partitions, "0,3-5, 7"),
    texts("labels of a form", parse_labels, "a, b c"),
    texts("links of a form", parse_links, "a https://b/c\n"),
    texts("settings of a form", parse_settings, "retention.ms=5\ncleanup.policy=compact\n"),
    texts("protocols of a form", parse_protocols, "A:PLAINTEXT, B:SSL"),
    texts("moves of a form", parse_targets, '{"a": {"0": [1, 2]}, "b": {"1": [3]}}'),
    texts("connector of a form", from_lines, "name=a\nkey=b\n", refusals=(TypedError,)),
    texts("connector as JSON", from_json, '{"name": "a", "config": {"k": "v"}}', refusals=(TypedError,)),
    texts("columns of a page", lambda text: parse_columns(text.split("|")), "value.a[0].b|key.c"),
    texts("alert rules", parse_alert_rules, '[channels.a]\nkind = "log"\n', refusals=(AlertRulesError,)),
    texts("host of a request", lambda text: OwnNames("n", ()).refusal([text]), "a.b:80", "[::1]:80"),
    binaries("assignment of a worker", decode_metadata, ASSIGNMENT),
    documents("quota entities", quota_entities, [[{"type": "user", "name": "A*"}, {"type": "client-id", "name": "B"}]]),
    documents("Protobuf printed", print_protobuf, PROTOBUF),
    documents("records of Connect", apply_connect_records, CONNECT_RECORDS),
    of_names("assignment of many units", assignment_of),
    of_names("schemas that are referred to", collect_references),
    of_names("Avro unions of one local name", unions_of_one_name),
    texts("properties", parse_properties, PROPERTIES),
    texts("list", parse_list, "a,b , c"),
    texts("jaas of a broker", parse_jaas, JAAS),
    texts("super users", parse_super_users, "User:a;User:b\\;c"),
    texts("host limits", parse_host_limits, "host:5,[::1]:7"),
    texts("throttled replicas", parse_throttled_replicas, "0:1,2:3", "*"),
    texts("listeners", parse_endpoints, "PLAINTEXT://a:1,SSL://b:2"),
    texts("protocol map", parse_protocol_map, "A:PLAINTEXT,B:SASL_SSL"),
    texts("principal rules", PrincipalRules, "RULE:^CN=([^,]+),OU=ops.*$/$1/L, DEFAULT", "DEFAULT , DEFAULT"),
    texts("response headers", read_rules, "set X-A: b, add Cache-Control: no-store"),
    texts("ensemble", parse_config, "server.1=a:2888:3888:participant;2181\nversion=5\n"),
    texts("server file", read_server_file, "dataDir=/x\nclientPort=2181\nserver.1=a:2:3\n"),
    texts("bearer token", read_header, "eyJhbGciOiJSUzI1NiJ9.e30.AA", "a.b.c"),
    texts("row of CSV", lambda text: split_row(text, ","), 'a,"b""c",d', '"",""', refusals=(DataError,)),
    texts("line of JSON", lambda text: parse_json(text.encode()), '{"a": [1, {"b": "c"}]}', refusals=(DataError,)),
    texts("masking", parse_masking, '[[rules]]\ntopics = ["a*"]\nmask = ["value.b"]\n', refusals=(MaskingError,)),
    texts("group rules", parse_group_rules, '["g"]\nrole = "reader"\n', refusals=(GroupRulesError, TooManyRulesError)),
    texts("declaration", lambda text: parse_declaration([("f", text)]), DECLARATION, refusals=(DeclarationError,)),
    texts("cursor", read_cursor, "1:2,3:4"),
    texts("JSON laid out", laid_out, '{"a": [1, {"b": "c"}], "d": "e"}'),
    texts("XML laid out", lambda text: laid_out_xml(text.encode(), LAYOUT_MAX), "<a b='c'><d>e</d><!--f--></a>"),
    texts("sentence", lambda text: sentence_within(EVERYTHING, text), "topic a-0 of group b failed: 'c'"),
    texts("CSV written", lambda text: list(csv_chunks(["a"], [[text]] * 3)), "=a,b"),
    binaries("CBOR", cbor.as_json, b"\xa2\x61a\x83\x01\x02\x03\x61b\x9f\x01\x61c\xff", b"\x7f\x61a\x61b\xff"),
    binaries("MessagePack", message_pack.as_json, b"\x82\xa1a\x93\x01\x02\x03\xa1b\xc3"),
    binaries("Protobuf by its wire", lambda data: wire_text(data, LAYOUT_MAX), b"\x08\1\x12\3abc\x1a\4\x08\1\x10\2"),
    binaries("distinguished name", java_name, DISTINGUISHED_NAME),
    binaries("consumer group record", lambda data: decode_value(CurrentMemberValue, data), CURRENT_MEMBER_VALUE),
    binaries("group record", decode_group_value, GROUP_VALUE),
    binaries("embedded subscription", decode_subscription, SUBSCRIPTION),
    binaries("embedded assignment", decode_assignment, encode_assignment({"t": frozenset([0, 1])}, 1)),
    documents("Avro parsed and printed", print_avro, *AVRO),
    documents("Avro compared with itself", lambda schema: compare_avro(schema, schema), *AVRO),
    documents("Avro compared with other names", lambda schema: compare_avro(schema, renamed(schema)), *AVRO),
    documents("JSON Schema compared with itself", lambda schema: compare_json_schemas(schema, schema), *JSON_SCHEMAS),
    documents("JSON Schema compared with other names", lambda s: compare_json_schemas(s, renamed(s)), *JSON_SCHEMAS),
    documents("Protobuf compared", compare_protobuf, PROTOBUF),
    documents("znode of ACLs", znode(decode_acls), {"version": 1, "acls": [
        {"principal": "User:A", "permissionType": "Allow", "operation": "Read", "host": "*"}]}),
    documents("znode of a topic", znode(decode_topic), {"version": 1, "partitions": {"0": [1, 2]}}),
    documents("znode of a broker", znode(lambda path, data: decode_broker(1, data, 1)), {
        "version": 5, "host": "a", "port": 1, "endpoints": ["PLAINTEXT://a:1"], "features": {},
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"}}),
    documents("znode of moves", lambda document: decode_reassignment_request(orjson.dumps(document)), {
        "version": 1, "partitions": [{"topic": "A", "partition": 0, "replicas": [1, 2]}]}),
    documents("znode of elections", lambda document: decode_election_request(orjson.dumps(document)), {
        "version": 1, "partitions": [{"topic": "A", "partition": 0}]}),
    of_names("transforms of a connector", lambda names: _transforms(chain(names))),
    of_names("configuration of a connector", definition),
    of_names("versions in the registry's topic", versions_in),
    *batch_targets(),
    *frame_targets(),
]  # fmt: skip
