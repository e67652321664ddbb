"""Imports that serve options only, or nothing, need no reference: Confluent's ProtobufSchema leaves them out."""

import base64

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf import compiler
from broker.registry.protobuf.left_out import KnownExtensions, tidied, without_options
from broker.registry.protobuf.schema import parse
from broker.registry.schema import Content, NamedSchema


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    compiler.close()


GOGO = """syntax = "proto3"; // generated
package shop;
import "gogoproto/gogo.proto";
import "buf/validate/validate.proto"; import public "protoc-gen-openapiv2/options/annotations.proto";
import "google/protobuf/timestamp.proto";
import "google/api/annotations.proto";
option (gogoproto.goproto_getters_all) = false;
option java_package = "com.shop";
message Order {
  option (grpc.gateway.openapiv2_schema) = { json_schema: { required: ["id", "x;y"], title: "]" } };
  string id = 1 [(gogoproto.customname) = "ID", deprecated = true, (buf.validate.field).string.min_len = 1];
  int64 at = 2 [(gogoproto.jsontag) = "a,]", (gogoproto.nullable) = false];
  google.protobuf.Timestamp when = 3 [json_name = "w", (gogoproto.stdtime) = true];
  enum Kind { option (gogoproto.goproto_enum_prefix) = false; NONE = 0 [(gogoproto.enumvalue_customname) = "N"]; }
  repeated string option_names = 4 [packed = false];
}
service Shop { rpc option (Order) returns (Order) { option (google.api.http) = { get: "/v1/{id=*}" }; } }
"""


def test_imports_that_serve_options_only_are_left_out_and_kept_in_the_text():
    text = GOGO.replace(" [packed = false]", "")
    parsed = parse(text, (), is_new=True)
    assert 'import "gogoproto/gogo.proto";' in parsed.canonical
    assert '(gogoproto.jsontag) = "a,]"' in parsed.canonical
    assert "generated" not in parsed.canonical
    file = FileDescriptorProto.FromString(base64.b64decode(parsed.formatted("serialized")))
    assert list(file.dependency) == ["google/protobuf/timestamp.proto", "google/api/annotations.proto"]
    assert [field.options.deprecated for field in file.message_type[0].field] == [True, False, False, False]
    assert file.message_type[0].field[2].json_name == "w"
    assert file.service[0].method[0].options.ByteSize() > 5, "an option that is known stays"
    again = parse(parsed.canonical, (), is_new=True)
    assert (again.canonical, again.files) == (parsed.canonical, parsed.files)
    assert parsed.normalized() == parsed.canonical


def test_blanks_and_comments_make_no_other_schema():
    text = GOGO.replace(" [packed = false]", "")
    other = text.replace("  ", "\t ").replace(" = 1", "=1").replace("// generated", "/* by hand */")
    assert parse(other, (), is_new=True).canonical == parse(text, (), is_new=True).canonical


def test_an_option_that_no_import_defines_is_kept_in_the_text():
    """As six of Confluent's own files have it: Wire does not look options up."""
    field = 'int32 a = 1 [(confluent.field_meta) = { tags: "T" }, deprecated = true];'
    text = f'syntax = "proto3"; package io.x; message M {{ {field} }}'
    parsed = parse(text, (), is_new=True)
    assert "[(confluent.field_meta) = {" in parsed.canonical
    assert parse(parsed.canonical, (), is_new=True).files == parsed.files
    assert parsed.files[-1].message_type[0].field[0].options.deprecated


def test_as_many_imports_as_a_text_has_are_left_out():
    imports = "".join(f'import "some/quite/long/path/{number:0100}.proto";' for number in range(60))
    parsed = parse(f'syntax = "proto3"; {imports} message M {{}}', (), is_new=True)
    assert parsed.canonical.count("import ") == 60


def test_versions_are_compared_although_imports_are_missing():
    old = parse('syntax = "proto3"; import "a/b.proto"; message M { int32 a = 1 [(x.y) = 1]; }', (), is_new=True)
    new = parse('syntax = "proto3"; import "a/b.proto"; message M { string a = 1 [(x.y) = 1]; }', (), is_new=True)
    assert "FIELD_SCALAR_KIND_CHANGED" in new.incompatibilities(old, lenient=False)[0]


@pytest.mark.parametrize(
    "body",
    [
        'import "a/b.proto"; message M { b.Type t = 1; }',
        'import "a/b.proto"; message M { int32 a = 1 [nonsense = 1]; }',
        'import "a/b.proto"; message M { int32 a = 1 [(x.y)',
        'import "a/b.proto"; option (',
        'import "/etc/passwd"; message M {}',
        'import "../b.proto"; message M {}',
        "message M { int32 a = 1 [nonsense = 1]; }",
    ],
)
def test_what_more_than_options_needs_is_refused(body):
    with pytest.raises(InvalidSchema):
        parse(f'syntax = "proto3"; {body}', (), is_new=True)


def test_a_reference_with_a_missing_import_serves_as_well():
    body = "message Item { int32 id = 1 [(gogoproto.x) = 1]; }"
    item = f'syntax = "proto3"; package p; import "gogoproto/gogo.proto"; {body}'
    referred = NamedSchema("item.proto", Content("PROTOBUF", parse(item, (), is_new=True).canonical), "item", 1)
    using = 'syntax = "proto3"; import "item.proto"; message U { p.Item item = 1; }'
    parsed = parse(using, [referred], is_new=True)
    assert ".p.Item item = 1;" in parsed.canonical


def test_only_unknown_options_are_cut_and_the_text_keeps_its_length():
    text = "int32 a = 1 [(a.x) = {b: [1, 2]}, packed = true, (a.y) = 1, (b.z) = 2]; option (a.x) = 1; b[(a.y)=1];"
    cut = without_options(text, KnownExtensions(["a.y"]))
    assert len(cut) == len(text)
    assert " ".join(cut.split()) == "int32 a = 1 [ packed = true, (a.y) = 1 ]; b[(a.y)=1];"
    assert " ".join(without_options(text, KnownExtensions()).split()) == "int32 a = 1 [ packed = true ]; b ;"


def test_a_name_stands_for_the_extensions_that_end_with_it():
    known = KnownExtensions(["a.b.c", "x"])
    assert [name for name in ("a.b.c", ".a.b.c", "b.c", "c", ".b.c", "d.c", "x", ".x", "y") if known.has(name)] == [
        "a.b.c", ".a.b.c", "b.c", "c", "x", ".x",
    ]  # fmt: skip
    many = KnownExtensions(f"m{number}.x" for number in range(1_000))
    with pytest.raises(InvalidSchema, match="too long"):
        [many.has("nothing.x") for _ in range(1_000)]


@pytest.mark.parametrize("text", ["", "option", "[", "option (a", "[(", "a [(x) = {", "]", '"', "option ( [ {" * 500])
def test_whatever_a_text_holds_it_is_cut_in_one_pass(text):
    assert len(without_options(text, KnownExtensions())) == len(text)
    assert tidied(tidied(text)) == tidied(text)


def test_confluents_variant_is_known():
    text = 'syntax = "proto3"; import "confluent/type/variant.proto"; message M { confluent.type.Variant v = 1; }'
    parsed = parse(text, (), is_new=True)
    assert [file.name for file in parsed.files] == ["confluent/type/variant.proto", "default.proto"]


EDITION = """edition = "2023";
package e;
option features.field_presence = IMPLICIT;
message M {
  string a = 1;
  string b = 2 [features.field_presence = EXPLICIT, default = "x"];
  repeated int32 c = 3 [features.repeated_field_encoding = EXPANDED];
  int32 d = 4 [features.field_presence = LEGACY_REQUIRED];
  N n = 5 [features.message_encoding = DELIMITED];
  map<string, N> m = 6;
  oneof o { int32 x = 7; }
  message N {}
}
enum E { option features.enum_type = CLOSED; A = 1; }
"""


def test_a_file_of_edition_2023_is_read_and_printed():
    parsed = parse(EDITION, (), is_new=True)
    assert parsed.canonical.startswith('edition = "2023";')
    again = parse(parsed.canonical, (), is_new=True)
    assert (again.canonical, again.files[-1]) == (parsed.canonical, parsed.files[-1])
    other = parse(EDITION.replace("int32 x", "string x"), (), is_new=True)
    assert "FIELD_SCALAR_KIND_CHANGED" in other.incompatibilities(parsed, lenient=False)[0]
    assert parse(parsed.formatted("serialized"), (), is_new=True).canonical == parsed.canonical
