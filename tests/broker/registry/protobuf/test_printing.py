"""What the printer prints, protoc reads: generated files, and options whose names a scope hides."""

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from hypothesis import HealthCheck, assume, given, settings

from broker.registry.errors import InvalidSchema
from broker.registry.protobuf import compiler
from broker.registry.protobuf.option_names import with_dots
from broker.registry.protobuf.printing import text_of
from broker.registry.protobuf.schema import parse
from broker.registry.schema import Content, NamedSchema
from tests.broker.registry.protobuf.protos import options_file, protos


@pytest.fixture(scope="module", autouse=True)
def no_process_is_left():
    yield
    compiler.close()


def ordered(message):
    """Nested types in the order of their names: a group's and a map's stand where their field does."""
    for nested in message.nested_type:
        ordered(nested)
    nested = sorted(message.nested_type, key=lambda proto: proto.name)
    fields = sorted(message.field, key=lambda proto: proto.number)
    copies = [type(proto).FromString(proto.SerializeToString()) for proto in nested]
    del message.nested_type[:]
    message.nested_type.extend(copies)
    copies = [type(proto).FromString(proto.SerializeToString()) for proto in fields]
    del message.field[:]
    message.field.extend(copies)


def comparable(file):
    copy = type(file).FromString(file.SerializeToString())
    for message in copy.message_type:
        ordered(message)
    return copy


def read_again(example):
    package, text = example
    options = NamedSchema("options.proto", Content("PROTOBUF", options_file(package)), "options", 1)
    try:
        parsed = parse(text, [options], is_new=True)
    except InvalidSchema as error:
        assume("cannot print" in str(error))  # names of one scope that collide make no valid file
        raise
    again = parse(parsed.canonical, [options], is_new=False)
    assert again.canonical == parsed.canonical
    assert comparable(again.files[-1]) == comparable(parsed.files[-1])
    normalized = parsed.normalized()
    assert parse(normalized, [options], is_new=False).normalized() == normalized


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(protos())
def test_what_is_printed_is_read_again(example):
    read_again(example)


@pytest.mark.long
@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(protos())
def test_what_is_printed_is_read_again_in_a_thousand_files(example):
    read_again(example)


WIDGET = """syntax = "proto3"; package io.confluent.x; import "confluent/meta.proto";
message W { string name = 1 [(.confluent.field_meta).tags = "PII"]; }"""


def test_an_option_with_a_leading_dot_keeps_it_where_the_package_hides_its_name():
    """Confluent's own client-encryption/src/test/proto/Widget.proto is such a file."""
    parsed = parse(WIDGET, (), is_new=True)
    assert "[(.confluent.field_meta) = {" in parsed.canonical
    assert parse(parsed.canonical, (), is_new=False).formatted("serialized")
    later = parse(WIDGET.replace("; }", "; int32 more = 2; }"), (), is_new=True)
    assert later.incompatibilities(parsed, lenient=False) == []


def test_an_option_that_no_scope_hides_is_printed_as_it_always_was():
    parsed = parse(WIDGET.replace("io.confluent.x", "confluent.x"), (), is_new=True)
    assert "[(confluent.field_meta) = {" in parsed.canonical


def test_a_text_without_the_dot_is_read_as_wire_reads_it():
    """Six of Confluent's own files are written so, and earlier releases of ours stored others so."""
    stored = parse(WIDGET, (), is_new=True).canonical.replace("(.confluent", "(confluent")
    assert "[(.confluent.field_meta) = {" in parse(stored, (), is_new=True).canonical
    assert parse(WIDGET.replace("(.c", "( c"), (), is_new=True).canonical == parse(WIDGET, (), is_new=True).canonical
    referred = NamedSchema("widget.proto", Content("PROTOBUF", stored), "widget", 1)
    using = 'syntax = "proto3"; import "widget.proto"; message U { io.confluent.x.W w = 1; }'
    assert "widget.proto" in parse(using, [referred], is_new=True).canonical
    left_out = stored.replace("package", 'import "gogoproto/gogo.proto";\npackage')
    assert "(.confluent.field_meta)" in parse(left_out, (), is_new=True).canonical


def test_a_dot_comes_before_names_in_brackets_alone():
    text = 'a (x.y) ( x.y ) "(x.y)" // (x.y)\n /* (x.y) */ (x.y.z) (x) (.x.y) \'(x.y)'
    dotted = 'a (.x.y) (.x.y) "(x.y)" // (x.y)\n /* (x.y) */ (x.y.z) (x) (.x.y) \'(x.y)'
    assert with_dots(text, frozenset({"x.y"})) == dotted


def test_an_option_whose_name_a_field_hides_is_found_from_the_root():
    text = """syntax = "proto2"; import "google/protobuf/descriptor.proto";
    extend google.protobuf.FieldOptions { optional string tag = 50000; }
    message M { optional string tag = 1 [(tag) = "a"]; optional int32 other = 2 [(tag) = "b"]; }"""
    parsed = parse(text, (), is_new=True)
    assert parsed.canonical.count("(.tag)") == 2
    assert parse(parsed.canonical, (), is_new=False).files == parsed.files


def test_a_copy_of_googles_descriptor_is_a_schema_as_well():
    file = FileDescriptorProto.FromString(descriptor_pb2.DESCRIPTOR.serialized_pb)
    parsed = parse(text_of([file]), (), is_new=True)
    assert "message FileDescriptorSet {" in parsed.canonical
    assert parse(parsed.canonical, (), is_new=False).canonical == parsed.canonical


def test_a_group_of_an_extension_stays_a_group():
    extension = "extend A { optional group G = 5 { optional int32 g = 1; } }"
    text = f'syntax = "proto2"; message A {{ extensions 5 to 9; }} {extension}'
    parsed = parse(text, (), is_new=True)
    assert "optional group G = 5 {" in parsed.canonical
    assert parse(parsed.canonical, (), is_new=False).files[-1] == parsed.files[-1]
