"""Decisions, matrix and effects of random rules against the broker's own decision, asked pair by pair."""

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.security.acls.decision import AccessRules
from broker.security.operations import AclOperation, ResourceType
from console.cluster.acls.effects import ANY_OTHER, AclChange, concerned, effects
from console.cluster.acls.rows import Choice, Matrix
from console.kit.gateway.acls.decisions import AclDecisions, with_changes
from console.kit.gateway.acls.interface import ANYBODY, OPERATIONS, AclRule, AclView, binding_of
from tests.examples import examples

PRINCIPALS = ["User:*", "User:a", "User:b", "User:root"]
HOSTS = ["*", "10.0.0.1"]
NAMES = ["*", "o", "or", "orders", "p"]
RULES = st.builds(
    AclRule,
    st.sampled_from(["TOPIC", "GROUP"]),
    st.sampled_from(NAMES),
    st.sampled_from(["LITERAL", "PREFIXED"]),
    st.sampled_from(PRINCIPALS),
    st.sampled_from(["ALLOW", "DENY"]),
    st.sampled_from(["ALL", "READ", "WRITE", "DESCRIBE", "ALTER_CONFIGS"]),
    st.sampled_from(HOSTS),
)
VIEWS = st.builds(
    AclView,
    st.lists(RULES, max_size=8, unique=True).map(lambda rules: tuple(sorted(rules))),
    st.sampled_from([None, frozenset(), frozenset({"User:root"})]),
    st.sampled_from([None, False, True]),
)
SEEN = ["orders", "or", "payments", "x"]


def allowed_by_the_broker(view: AclView):
    rules: dict = {}
    for pattern, entry in map(binding_of, view.rules):
        rules.setdefault(pattern, []).append(entry)
    kept = AccessRules(rules, allows_if_none=bool(view.allows_if_none))

    def ask(principal, host, resource, name, operation) -> bool:
        is_super = principal in (view.super_users or ())
        return is_super or kept.allows(principal, host, AclOperation[operation], ResourceType[resource], name)

    return ask


@settings(max_examples=examples(100))
@given(VIEWS, st.sampled_from([*PRINCIPALS, "User:c"]), st.sampled_from(HOSTS), st.sampled_from([*NAMES, *SEEN]))
def test_each_decision_is_the_brokers(view, principal, host, name):
    ask, decisions = allowed_by_the_broker(view), AclDecisions(view)
    for resource in ("TOPIC", "GROUP"):
        decided = decisions.of(principal, host, resource, name)
        assert {item: decided[item].is_allowed for item in decided} == {
            operation: ask(principal, host, resource, name, operation) for operation in OPERATIONS[resource]
        }
        for election in decided.values():
            assert election.rule is None or (election.rule in view.rules and election.rule.meets(resource, name))
            assert election.is_certain or view.super_users is None or view.allows_if_none is None


@settings(max_examples=examples(100))
@given(
    VIEWS,
    st.sampled_from(["", *OPERATIONS["TOPIC"]]),
    st.sampled_from(["", "user:a", "B"]),
    st.sampled_from(["", "OR", "p"]),
    st.booleans(),
)
def test_the_matrix_has_every_pair_that_may_something_once_and_decided_as_by_the_broker(
    view, operation, principal, name, everything
):
    choice = Choice("TOPIC", principal, name, operation, "*", everything)
    matrix = Matrix(view, choice, ["User:a", "User:c"], SEEN)
    rows = matrix[0 : len(matrix)]
    pairs = [(row.principal, row.name) for row in rows]
    assert pairs == sorted(set(pairs))
    assert len(pairs) == len(matrix)
    assert [row for at in range(0, len(matrix), 3) for row in matrix[at : at + 3]] == rows
    ask = allowed_by_the_broker(view)
    named = {rule.name for rule in view.rules if rule.resource == "TOPIC"} | set(SEEN)
    people = {"User:a", "User:c", ANYBODY} | {rule.principal for rule in view.rules}
    matching_pairs = {
        (p, n) for p in people for n in named if principal.lower() in p.lower() and name.lower() in n.lower()
    }
    for row in rows:
        assert (row.principal, row.name) in matching_pairs
        for decision in row.decisions:
            assert decision.is_allowed == ask(row.principal, "*", "TOPIC", row.name, decision.operation)
    may = {
        pair
        for pair in matching_pairs
        if any(ask(pair[0], "*", "TOPIC", pair[1], operation) for operation in choice.operations)
    }
    assert may <= set(pairs)
    if everything:
        assert set(pairs) == matching_pairs


@settings(max_examples=examples(100))
@given(VIEWS, st.lists(RULES, max_size=3), st.lists(RULES, max_size=2), st.data())
def test_who_gains_or_loses_is_who_the_broker_would_answer_otherwise(view, added, others, data):
    removed = data.draw(st.lists(st.sampled_from(view.rules), max_size=3)) if view.rules else []
    change = AclChange.real(view, added, [*removed, *others])
    after = with_changes(view, change.added, change.removed)
    known = ["User:a", "User:b", "User:c", "User:root"]
    result = effects(view, change, concerned(view, change, known), lambda _: SEEN)
    assert result.is_whole
    gains = {
        (effect.principal, effect.resource, name, operation): effect.gains
        for effect in result.listed
        if effect.host == "*"
        for name in effect.names
        for operation in effect.operations
    }
    was, then = allowed_by_the_broker(view), allowed_by_the_broker(after)
    wanted = {}
    for principal in [*known, ANYBODY]:
        for resource in {rule.resource for rule in change.rules}:
            for name in {*SEEN, *(rule.name for rule in change.rules if rule.resource == resource)}:
                for operation in OPERATIONS[resource]:
                    question = principal, "*", resource, name, operation
                    if was(*question) != then(*question):
                        wanted[principal, resource, label(change, resource, name), operation] = then(*question)
    assert gains == wanted


def label(change: AclChange, resource: str, name: str) -> str:
    patterns = {rule.pattern for rule in change.rules if (rule.resource, rule.name) == (resource, name)}
    if name == "*" and "LITERAL" in patterns:
        return ANY_OTHER
    return f"{name}…" if "PREFIXED" in patterns and name not in SEEN else name


@settings(max_examples=examples(50))
@given(VIEWS, st.lists(RULES, max_size=3), st.lists(RULES, max_size=3))
def test_the_inverse_of_a_real_change_brings_back_what_was(view, added, removed):
    change = AclChange.real(view, added, removed)
    after = with_changes(view, change.added, change.removed)
    back = AclChange.real(after, change.inverse.added, change.inverse.removed)
    assert with_changes(after, back.added, back.removed) == view
