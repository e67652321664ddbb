"""Decisions as AclAuthorizer's: its tables, and random rules decided the plain way besides."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.security.acls.decision import AccessRules
from broker.security.acls.model import AclEntry, Pattern, PatternType, Permission
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from tests.examples import examples

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
ALICE, HOST = "User:alice", "10.0.0.1"
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


def allow(operation=AclOperation.ALL, principal=ALICE, host="*"):
    return AclEntry(principal, host, operation, Permission.ALLOW)


def deny(operation=AclOperation.ALL, principal=ALICE, host="*"):
    return AclEntry(principal, host, operation, Permission.DENY)


def on(name, *entries, kind=TOPIC, type_=LITERAL):
    return {Pattern(kind, name, type_): entries}


def may(rules, operation, name="t", principal=ALICE, host=HOST, kind=TOPIC, **settings):
    return AccessRules(rules, **settings).allows(principal, host, operation, kind, name)


def may_on_any(rules, operation, kind=TOPIC, principal=ALICE, host=HOST, **settings):
    return AccessRules(rules, **settings).allows_on_any(principal, host, operation, kind)


def test_without_rules_nobody_may_unless_everybody_may_what_no_rule_is_about():
    assert not may({}, AclOperation.READ)
    assert may({}, AclOperation.READ, allows_if_none=True)
    assert not may(on("t", allow(principal="User:bob")), AclOperation.READ, allows_if_none=True)
    for rules in (on("*", allow(principal="User:bob")), on("t", allow(principal="User:bob"), type_=PREFIXED)):
        assert not may(rules, AclOperation.READ, allows_if_none=True)
    assert may(on("t", allow(principal="User:bob"), kind=GROUP), AclOperation.READ, allows_if_none=True)


@pytest.mark.parametrize(
    ("held", "implied"),
    [
        (AclOperation.READ, {AclOperation.READ, AclOperation.DESCRIBE}),
        (AclOperation.WRITE, {AclOperation.WRITE, AclOperation.DESCRIBE}),
        (AclOperation.DELETE, {AclOperation.DELETE, AclOperation.DESCRIBE}),
        (AclOperation.ALTER, {AclOperation.ALTER, AclOperation.DESCRIBE}),
        (AclOperation.DESCRIBE, {AclOperation.DESCRIBE}),
        (AclOperation.CREATE, {AclOperation.CREATE}),
        (AclOperation.ALTER_CONFIGS, {AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE_CONFIGS}),
        (AclOperation.DESCRIBE_CONFIGS, {AclOperation.DESCRIBE_CONFIGS}),
        (AclOperation.ALL, {item for item in AclOperation if item > AclOperation.ALL}),
    ],
)
def test_an_allowed_operation_allows_what_it_implies_and_a_denied_one_denies_itself(held, implied):
    operations = {item for item in AclOperation if item > AclOperation.ALL}
    assert {item for item in operations if may(on("t", allow(held)), item)} == implied
    denied = {item for item in operations if not may(on("t", allow(), deny(held)), item)}
    assert denied == (operations if held is AclOperation.ALL else {held})


def test_a_denied_description_is_denied_to_who_may_read():
    assert not may(on("t", allow(AclOperation.READ), deny(AclOperation.DESCRIBE)), AclOperation.DESCRIBE)


@pytest.mark.parametrize(
    ("pattern", "is_about"),
    [
        (("t", LITERAL), False),
        (("tea", LITERAL), True),
        (("*", LITERAL), True),
        (("t", PREFIXED), True),  # KAFKA-7702: of one letter
        (("tea", PREFIXED), True),
        (("teapot", PREFIXED), False),
        (("*", PREFIXED), False),
        (("T", PREFIXED), False),
    ],
)
def test_names_are_met_by_their_own_rules_by_prefixes_and_by_the_wildcard(pattern, is_about):
    name, type_ = pattern
    assert may(on(name, allow(), type_=type_), AclOperation.READ, "tea") is is_about
    assert may({**on("*", allow()), **on(name, deny(), type_=type_)}, AclOperation.READ, "tea") is not is_about


def test_a_longer_prefix_hides_no_shorter_one():
    """KAFKA-14265."""
    rules = {**on("a", allow(), type_=PREFIXED), **on("ab", allow(principal="User:bob"), type_=PREFIXED)}
    assert may(rules, AclOperation.READ, "abc")


def test_principals_and_hosts_are_compared_letter_by_letter():
    rules = on("t", allow(host=HOST), allow(principal="User:*", host="10.0.0.9"))
    assert may(rules, AclOperation.READ)
    assert not may(rules, AclOperation.READ, host="10.0.0.2")
    assert not may(rules, AclOperation.READ, principal="User:Alice")
    assert not may(rules, AclOperation.READ, principal="Group:alice")
    assert may(rules, AclOperation.READ, principal="User:ANONYMOUS", host="10.0.0.9")


def test_the_cluster_is_a_resource_like_others():
    assert may(
        on(CLUSTER_NAME, allow(AclOperation.ALTER), kind=CLUSTER), AclOperation.ALTER, CLUSTER_NAME, kind=CLUSTER
    )


@pytest.mark.parametrize(
    ("rules", "is_allowed"),
    [
        ({}, False),
        (on("t", allow(AclOperation.WRITE)), True),
        (on("t", allow(AclOperation.ALL)), True),
        (on("t", allow(AclOperation.READ)), False),
        (on("t", allow(AclOperation.WRITE, host="10.0.0.2")), False),
        (on("t", allow(AclOperation.WRITE), deny(AclOperation.WRITE)), False),
        ({**on("*", allow(AclOperation.WRITE)), **on("t", deny())}, True),
        ({**on("t", allow(AclOperation.WRITE)), **on("*", deny())}, False),
        ({**on("tea", allow(AclOperation.WRITE)), **on("t", deny(), type_=PREFIXED)}, False),
        ({**on("tea", allow(), type_=PREFIXED), **on("t", deny(), type_=PREFIXED)}, False),
        ({**on("t", allow(), type_=PREFIXED), **on("tea", deny(), type_=PREFIXED)}, True),
        ({**on("t", allow(), type_=PREFIXED), **on("t", deny())}, True),
        (on("t", allow(AclOperation.WRITE, principal="User:*")), True),
    ],
)
def test_something_may_be_written_unless_all_that_is_allowed_is_denied(rules, is_allowed):
    assert may_on_any(rules, AclOperation.WRITE) is is_allowed


def test_any_is_allowed_where_no_rule_is_found_if_so_configured_but_for_a_deny_of_everything():
    assert may_on_any({}, AclOperation.WRITE, allows_if_none=True)
    assert not may_on_any(on("*", deny()), AclOperation.WRITE, allows_if_none=True)


def test_nothing_is_implied_for_any():
    assert not may_on_any(on("t", allow(AclOperation.WRITE)), AclOperation.DESCRIBE)


# -- against the plain way

NAMES = st.sampled_from(["*", "a", "ab", "abc", "b", "ba"])
HOSTS = st.sampled_from(["*", "10.0.0.1", "10.0.0.2"])
PRINCIPALS = st.sampled_from(["User:*", "User:alice", "User:bob"])
OPERATIONS = st.sampled_from([item for item in AclOperation if item >= AclOperation.ALL])
ENTRIES = st.builds(AclEntry, PRINCIPALS, HOSTS, OPERATIONS, st.sampled_from([Permission.ALLOW, Permission.DENY]))
PATTERNS = st.builds(Pattern, st.sampled_from([TOPIC, GROUP]), NAMES, st.sampled_from([LITERAL, PREFIXED]))
RULES = st.dictionaries(PATTERNS, st.lists(ENTRIES, max_size=4), max_size=8)
ASKED = st.tuples(
    st.sampled_from(["User:alice", "User:bob"]),
    st.sampled_from(["10.0.0.1", "10.0.0.2"]),
    st.sampled_from([item for item in AclOperation if item > AclOperation.ALL]),
    st.sampled_from([TOPIC, GROUP]),
    st.sampled_from(["a", "ab", "abcd", "b", "x"]),
)


def plainly(rules, principal, host, operation, kind, name, allows_if_none):
    """The six steps as they are written, over all rules."""
    result = [
        entry
        for pattern, entries in rules.items()
        for entry in entries
        if pattern.kind is kind
        and (
            (pattern.type is LITERAL and pattern.name in (name, "*"))
            or (pattern.type is PREFIXED and name.startswith(pattern.name))
        )
    ]
    if not result:
        return allows_if_none
    implying = {operation, AclOperation.ALL}
    if operation is AclOperation.DESCRIBE:
        implying |= {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    if operation is AclOperation.DESCRIBE_CONFIGS:
        implying |= {AclOperation.ALTER_CONFIGS}
    about = [rule for rule in result if rule.principal in (principal, "User:*") and rule.host in (host, "*")]
    if any(e.permission is Permission.DENY and e.operation in (operation, AclOperation.ALL) for e in about):
        return False
    return any(e.permission is Permission.ALLOW and e.operation in implying for e in about)


@settings(max_examples=examples(500))
@given(RULES, st.lists(st.tuples(PATTERNS, st.lists(ENTRIES, max_size=3)), max_size=4), ASKED, st.booleans())
def test_random_rules_changed_one_by_one_are_decided_as_plainly(rules, changes, question, allows_if_none):
    kept = AccessRules(rules, allows_if_none=allows_if_none)
    now = dict(rules)
    assert kept.allows(*question) == plainly(now, *question, allows_if_none)
    for pattern, entries in changes:
        is_changed = set(now.get(pattern, ())) != set(entries)
        assert kept.replace(pattern, entries) == is_changed
        now[pattern] = entries
        assert kept.allows(*question) == plainly(now, *question, allows_if_none)
    assert {(binding.pattern, binding.entry) for binding in kept} == {(p, e) for p, es in now.items() for e in es}


@settings(max_examples=examples(500))
@given(RULES, ASKED)
def test_what_is_allowed_on_any_is_allowed_on_one_that_can_be_named(rules, question):
    """KIP-679 by its meaning: names that rules speak of, and one behind each prefix that no rule speaks of."""
    principal, host, operation, kind, _ = question
    if operation in (AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS):
        return  # on any resource nothing is implied
    names = {p.name for p in rules if p.type is LITERAL and p.name != "*"}
    names |= {p.name + "-" for p in rules if p.type is PREFIXED} | {"-"}
    some = any(plainly(rules, principal, host, operation, kind, name, False) for name in names)
    any_ = AccessRules(rules).allows_on_any(principal, host, operation, kind)
    # A literal wildcard that is allowed counts whatever prefixes are denied: it cannot be denied but by its like.
    if any_ != some:
        assert any_
        assert any(p.type is LITERAL and p.name == "*" and p.kind is kind for p in rules)


@settings(max_examples=examples(500))
@given(RULES, ASKED, st.booleans())
def test_an_explanation_says_what_is_decided_and_names_a_rule_that_would_alone_decide_so(
    rules, question, allows_if_none
):
    principal, host, operation, kind, name = question
    kept = AccessRules(rules, allows_if_none=allows_if_none)
    why = kept.explain(principal, host, kind, name, [operation])[operation]
    assert why.is_allowed == kept.allows(*question)
    if why.rule is not None:
        pattern, entry = why.rule
        assert entry in rules[pattern]
        assert (entry.permission is Permission.ALLOW) is why.is_allowed
        alone = AccessRules({pattern: [entry]}, allows_if_none=True)
        assert alone.allows(*question) is why.is_allowed
        assert not why.no_rule
    else:
        assert why.is_allowed is (why.no_rule and allows_if_none)
        about = {p for p, es in rules.items() if es and AccessRules({p: [allow(principal="User:*")]}).allows(*question)}
        assert why.no_rule is not bool(about)


def test_of_several_rules_the_closest_is_named():
    rules = {
        **on("*", allow(principal="User:*")),
        **on("te", allow(), type_=PREFIXED),
        **on("tea", allow(), allow(AclOperation.READ), allow(AclOperation.WRITE)),
    }
    explained = AccessRules(rules).explain(
        ALICE, HOST, TOPIC, "tea", [AclOperation.READ, AclOperation.DESCRIBE, AclOperation.ALTER]
    )
    assert {operation: why.rule and why.rule.entry.operation for operation, why in explained.items()} == {
        AclOperation.READ: AclOperation.READ,
        AclOperation.DESCRIBE: AclOperation.WRITE,
        AclOperation.ALTER: AclOperation.ALL,
    }
    assert {why.rule.pattern.name for why in explained.values() if why.rule} == {"tea"}
    (denied,) = (
        AccessRules({**rules, **on("*", deny(AclOperation.READ))})
        .explain(ALICE, HOST, TOPIC, "tea", [AclOperation.READ])
        .values()
    )
    assert denied.rule is not None
    assert denied.rule.entry == deny(AclOperation.READ)
