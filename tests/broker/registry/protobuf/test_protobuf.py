"""Protobuf: what protoc understood is printed and compared; a row for each change."""

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf import compiler
from broker.registry.protobuf.comparison import INCOMPATIBLE, differences
from broker.registry.protobuf.schema import parse
from broker.registry.schema import Content, NamedSchema


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    compiler.close()


def schema(body, *, package="", syntax="proto3", referred=()):
    packaged = f"package {package};" if package else ""
    imports = "".join(f'import "{entry.name}";' for entry in referred)
    return parse(f'syntax = "{syntax}"; {packaged} {imports} {body}', referred, is_new=True)


ITEM = "message Item { int32 id = 1; } "
ROWS = [
    ("message A { int32 a = 1; }", "message A { int32 a = 1; string b = 2; }", "FIELD_ADDED"),
    ("message A { int32 a = 1; string b = 2; }", "message A { int32 a = 1; }", "FIELD_REMOVED"),
    ("message A { int32 a = 1; }", "message A { int64 b = 1; }", "FIELD_NAME_CHANGED"),
    ("message A { int32 a = 1; }", "message A { sint32 a = 1; }", "FIELD_SCALAR_KIND_CHANGED"),
    ("message A { string a = 1; }", "message A { bytes a = 1; }", None),
    ("message A { fixed32 a = 1; }", "message A { sfixed32 a = 1; }", None),
    ("message A { fixed64 a = 1; }", "message A { double a = 1; }", "FIELD_SCALAR_KIND_CHANGED"),
    ("message A { int32 a = 1; }", "message A { E a = 1; } enum E { Z = 0; }", "ENUM_ADDED"),
    ("enum E { Z = 0; }", "enum E { Y = 0; }", "ENUM_CONST_CHANGED"),
    ("message A { int32 a = 1; }", "message A { Item a = 1; }" + ITEM, "FIELD_KIND_CHANGED"),
    ("message A { map<string, int32> a = 1; }", "message A { map<string, int64> a = 1; }", None),
    ("message A { map<string, int32> a = 1; }", "message A { map<string, string> a = 1; }",
     "FIELD_SCALAR_KIND_CHANGED"),
    ("message A { map<string, int32> a = 1; }", "message A { string a = 1; }", "FIELD_KIND_CHANGED"),
    ("message A { optional int32 a = 1; }", "message A { repeated int32 a = 1; }", "FIELD_NUMERIC_LABEL_CHANGED"),
    ("message A { optional string a = 1; }", "message A { repeated string a = 1; }",
     "FIELD_STRING_OR_BYTES_LABEL_CHANGED"),
    ("message A { Item a = 1; }" + ITEM, "message A { repeated Item a = 1; }" + ITEM, None),
    ("message A {} message B {}", "message B {} message A {}", "MESSAGE_MOVED"),
    ("message A {}", "message A {} message B {}", "MESSAGE_ADDED"),
    ("message A {} message B {}", "message A {}", "MESSAGE_REMOVED"),
    ("message A { message B {} }", "message A {}", "MESSAGE_REMOVED"),
    ("message A { int32 a = 1; }", "message A { oneof o { int32 a = 1; string b = 2; } }", "ONEOF_ADDED"),
    ("message A { int32 a = 1; int32 b = 2; }", "message A { oneof o { int32 a = 1; int32 b = 2; } }",
     "MULTIPLE_FIELDS_MOVED_TO_ONEOF"),
    ("message A { int32 b = 2; oneof o { int32 a = 1; } }", "message A { oneof o { int32 a = 1; int32 b = 2; } }",
     "FIELD_MOVED_TO_EXISTING_ONEOF"),
    ("message A { oneof o { int32 a = 1; int32 b = 2; } }", "message A { oneof o { int32 a = 1; } }",
     "ONEOF_FIELD_REMOVED"),
    ("message A { oneof o { int32 a = 1; } int32 c = 3; }", "message A { int32 c = 3; }", "ONEOF_REMOVED"),
    ("message A { oneof o { int32 a = 1; int32 b = 2; } }", "message A { oneof o { int32 a = 1; } int32 b = 2; }",
     "ONEOF_FIELD_MOVED_TO_TOP_LEVEL"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "name"), ROWS)
def test_a_change_has_its_name_and_verdict(before, after, name):
    old, new = schema(before), schema(after)
    results = {difference.type for difference in differences(old.files, new.files)}
    assert name in results if name else not results, results
    assert bool(new.incompatibilities(old, lenient=False)) == bool(results & INCOMPATIBLE)
    assert not differences(old.files, old.files)


def test_required_fields_neither_come_nor_go():
    plain, required = "message A { optional int32 a = 1; }", "message A { optional int32 a = 1; required int32 b = 2; }"
    old, new = schema(plain, syntax="proto2"), schema(required, syntax="proto2")
    assert [difference.type for difference in differences(old.files, new.files)] == ["REQUIRED_FIELD_ADDED"]
    assert [difference.type for difference in differences(new.files, old.files)] == ["REQUIRED_FIELD_REMOVED"]


def test_another_package_is_another_schema():
    assert [
        difference.type for difference in differences(schema("", package="a").files, schema("", package="b").files)
    ] == ["PACKAGE_CHANGED"]


def item(kind):
    text = f'syntax = "proto3"; package p; message Item {{ {kind} id = 1; }}'
    return NamedSchema("item.proto", Content("PROTOBUF", text), "item", 1)


def test_each_is_compared_with_its_own_imports():
    body = "message A { p.Item item = 1; }"
    old, same, other = (schema(body, referred=(item(kind),)) for kind in ("int32", "int64", "string"))
    assert same.incompatibilities(old, lenient=False) == []
    assert any(
        "FIELD_NAMED_TYPE_CHANGED" in incompatibility for incompatibility in other.incompatibilities(old, lenient=False)
    )


FULL = """syntax = "proto2";
package a.b;
import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";
option java_package = "x\\"y";
message A {
  reserved 5, 7 to 9, 100 to max;
  reserved "old";
  extensions 50 to 60;
  optional int32 a = 1 [default = -1, deprecated = true];
  optional string b = 2 [default = "q\\"\\n", json_name = "bee", (confluent.field_meta).doc = "d"];
  optional bytes c = 3 [default = "\\001\\377"];
  repeated .google.protobuf.Timestamp t = 4;
  map<string, .a.b.A> m = 6;
  oneof o { int32 x = 10; string y = 11; }
  optional group G = 12 { optional int32 g = 1; }
  optional E e = 13 [default = ONE];
  message N { required double d = 1; }
  enum E { option allow_alias = true; ONE = 1; UNO = 1; reserved 4 to 5; }
}
extend A { optional string more = 50; }
service S { rpc Do (A) returns (stream A) { option deprecated = true; } }
"""


def test_what_is_printed_is_what_was_understood():
    parsed = parse(FULL, (), is_new=True)
    again = parse(parsed.canonical, (), is_new=True)
    assert again.canonical == parsed.canonical
    assert again.files[-1] == parsed.files[-1]


def test_text_and_descriptor_are_one_schema():
    parsed = parse(FULL, (), is_new=True)
    descriptor = parsed.formatted("serialized")
    assert FileDescriptorProto.FromString(base64.b64decode(descriptor)).package == "a.b"
    assert parse(descriptor, (), is_new=True).canonical == parsed.canonical


def test_fields_are_in_the_order_of_their_tags_when_normalized():
    one, other = schema("message A { int32 a = 1; int32 b = 2; }"), schema("message A { int32 b = 2; int32 a = 1; }")
    assert one.canonical != other.canonical
    assert one.normalized() == other.normalized()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('syntax = "proto3"; message A { B b = 1; }', '"B" is not defined'),
        ('syntax = "proto3"; import "/etc/passwd";', "not found"),
        ('syntax = "proto3"; import "../x.proto";', "not found"),
        ("message", "Expected"),
        (base64.b64encode(b"\x0a\xff").decode(), "Expected"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_reason(text, message):
    with pytest.raises(InvalidSchema, match=message) as refused:
        parse(text, (), is_new=True)
    assert "/tmp" not in str(refused.value)


def test_a_compiler_that_was_killed_is_started_again():
    schema("message A1 {}")
    compiler._process.kill()
    compiler._process.wait()
    assert "A2" in schema("message A2 {}").canonical


MAP = "message A { map<string, Item> by_name = 1; message B { map<int32, string> m = 7; } }" + ITEM
#: As Kafka's and Confluent's Java classes print the descriptor of a compiled class.
MAP_OF_JAVA = """message A {
  repeated .q.A.ByNameEntry by_name = 1 [json_name = "byName"];
  message ByNameEntry {
    option map_entry = true; // not "option map_entry = true;"
    string key = 1 [json_name = "key"]; .q.Item value = 2 [json_name = "value"];
  }
  message B {
    repeated MEntry m = 7;
    message MEntry { option /* so */ map_entry
      = true; int32 key = 1; string value = 2; }
  }
} message Item { int32 id = 1; }"""


def test_maps_as_java_writes_those_of_a_compiled_class_are_maps():
    of_java, ours = schema(MAP_OF_JAVA, package="q"), schema(MAP, package="q")
    assert of_java.normalized() == ours.normalized()
    assert "map<string, Item> by_name = 1" in of_java.canonical.replace(".q.Item", "Item")


@pytest.mark.parametrize(
    "body",
    [
        "message A { option map_entry = true; string key = 1; string value = 2; }",
        "message A { repeated E m = 1; message E { option map_entry = true; string key = 1; string value = 2; } }",
        "message A { repeated MEntry m = 1; message MEntry { option map_entry = true; string key = 1; } }",
        "message A { repeated MEntry m = 1; message MEntry { option map_entry = true; float key = 1; A value = 2; } }",
        "message A { MEntry m = 1; message MEntry { option map_entry = true; string key = 1; string value = 2; } }",
        "enum MEntry { option map_entry = true; Z = 0; }",
        "option map_entry = true;",
    ],
)
def test_what_is_no_map_is_not_made_one(body):
    with pytest.raises(InvalidSchema, match="map_entry"):
        schema(body)


@pytest.mark.parametrize("text", ["}" * 9 + "option map_entry = true;", "message", "{" * 99, "map_entry '", "/*"])
def test_whatever_stands_around_map_entry_is_read_or_refused(text):
    with pytest.raises(InvalidSchema):
        schema(f"{text} map_entry")


@pytest.mark.parametrize("path", ["grpc_tools/protoc.py", "starlette/applications.py"])
def test_an_import_reads_no_file_that_is_installed_beside_the_compiler(path):
    """Errors told where packages are installed, and the places of words in any of their files."""
    parsed = parse(f'syntax = "proto3"; import "{path}"; message A {{}}', (), is_new=True)
    assert list(parsed.files[-1].dependency) == []
    with pytest.raises(InvalidSchema) as refusal:
        parse(f'syntax = "proto3"; import "{path}"; message A {{ Main a = 1; }}', (), is_new=True)
    assert "site-packages" not in str(refusal.value)


def test_an_import_of_googles_common_types_is_found():
    assert parse('syntax = "proto3"; import "google/protobuf/timestamp.proto"; message A {}', (), is_new=True)
