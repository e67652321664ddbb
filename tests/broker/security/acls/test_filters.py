"""Filters mean what Kafka's AclBindingFilter means."""

import pytest

from broker.security.acls.filters import BindingFilter, EntryFilter, PatternFilter
from broker.security.acls.model import AclEntry, Binding, Pattern, PatternType, Permission, java_host
from broker.security.operations import AclOperation, ResourceType

TOPIC = ResourceType.TOPIC
LITERAL, PREFIXED, MATCH, ANY = PatternType.LITERAL, PatternType.PREFIXED, PatternType.MATCH, PatternType.ANY
ALL = {("tea", LITERAL), ("t", LITERAL), ("*", LITERAL), ("t", PREFIXED), ("teapot", PREFIXED), ("tea", PREFIXED)}


@pytest.mark.parametrize(
    ("name", "type_", "matched"),
    [
        ("tea", LITERAL, {("tea", LITERAL)}),
        ("tea", PREFIXED, {("tea", PREFIXED)}),
        ("tea", ANY, {("tea", LITERAL), ("tea", PREFIXED)}),
        ("tea", MATCH, {("tea", LITERAL), ("*", LITERAL), ("t", PREFIXED), ("tea", PREFIXED)}),
        ("*", LITERAL, {("*", LITERAL)}),
        (None, LITERAL, {item for item in ALL if item[1] is LITERAL}),
        (None, PREFIXED, {item for item in ALL if item[1] is PREFIXED}),
        (None, ANY, ALL),
        (None, MATCH, ALL),
    ],
)
def test_patterns_are_matched_by_name_and_type(name, type_, matched):
    wanted = PatternFilter(TOPIC, name, type_)
    assert {item for item in ALL if wanted.matches(Pattern(TOPIC, *item))} == matched
    assert not any(wanted.matches(Pattern(ResourceType.GROUP, *item)) for item in ALL)
    assert {item for item in ALL if PatternFilter(ResourceType.ANY, name, type_).matches(Pattern(TOPIC, *item))} == (
        matched
    )


def test_a_filter_that_can_match_one_pattern_names_it():
    assert PatternFilter(TOPIC, "t", PREFIXED).only == Pattern(TOPIC, "t", PREFIXED)
    for wanted in (
        PatternFilter(TOPIC, "t", MATCH),
        PatternFilter(TOPIC, "t", ANY),
        PatternFilter(TOPIC, None, LITERAL),
        PatternFilter(ResourceType.ANY, "t", LITERAL),
    ):
        assert wanted.only is None


def test_entries_are_matched_in_what_is_said_of_them():
    entry = AclEntry("User:a", "10.0.0.1", AclOperation.READ, Permission.ALLOW)
    binding = Binding(Pattern(TOPIC, "t"), entry)
    assert BindingFilter().matches(binding)
    assert EntryFilter(*entry).matches(entry)
    for other in (
        EntryFilter(principal="User:b"),
        EntryFilter(host="*"),
        EntryFilter(operation=AclOperation.ALL),
        EntryFilter(permission=Permission.DENY),
    ):
        assert not other.matches(entry)


@pytest.mark.parametrize(
    ("text", "java"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("0:0:0:0:0:0:0:1", "0:0:0:0:0:0:0:1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("FE80::A%eth0", "fe80:0:0:0:0:0:0:a%eth0"),
        ("2001:db8::1", "2001:db8:0:0:0:0:0:1"),
        ("*", "*"),
        ("a.example", "a.example"),
        ("", ""),
    ],
)
def test_hosts_are_written_as_java_writes_them(text, java):
    assert java_host(text) == java
    assert java_host(java) == java
