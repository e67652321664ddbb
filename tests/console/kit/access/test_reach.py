"""What a role and rules come to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.kit.access.filters import within
from console.kit.access.reach import NOWHERE, AccessLevel, AccessRule, Reach, Resource, matches
from console.kit.access.roles import ROLES, Right
from console.state.clusters.models import Topic
from tests.examples import examples

TOPIC = Resource.TOPIC


def reach(role: str, *rules: tuple[str, str], resource: Resource = TOPIC) -> Reach:
    return Reach(
        ROLES.get(role, frozenset()),
        tuple(AccessRule(resource, pattern, AccessLevel(level)) for pattern, level in rules),
    )


@pytest.mark.parametrize(
    ("pattern", "name", "is_match"),
    [
        ("orders-*", "orders-eu", True),
        ("orders-*", "orders-", True),
        ("orders-*", "Orders-eu", False),
        ("orders-*", "my-orders-eu", False),
        ("*", "", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a.c", "abc", False),
        ("[a]", "a", False),
        ("[a]", "[a]", True),
        ("a*", "a\nb", True),
    ],
)
def test_a_pattern_matches_the_whole_name(pattern, name, is_match):
    assert matches(pattern, name) is is_match


def test_a_rule_that_takes_away_wins_over_all_that_give():
    mine = reach("operator", ("secret-*", "nothing"), ("secret-*", "operator"), ("*", "operator"))

    assert mine.rights_on(TOPIC, "secret-plans") == frozenset()
    assert mine.rights_on(TOPIC, "orders") == ROLES["operator"]


def test_the_most_that_role_and_rules_give_counts():
    mine = reach("viewer", ("orders-*", "operator"), ("pay-*", "viewer"))

    assert mine.rights_on(TOPIC, "orders-eu") == ROLES["operator"]
    assert mine.rights_on(TOPIC, "pay-eu") == mine.rights_on(TOPIC, "other") == {Right.VIEW}


def test_without_a_role_only_what_rules_give_is_there():
    mine = reach("", ("orders-*", "viewer"))

    assert mine.rights_on(TOPIC, "orders-eu") == {Right.VIEW}
    assert mine.rights_on(TOPIC, "pay-eu") == frozenset()
    assert mine.rights_on(Resource.GROUP, "orders-eu") == frozenset()
    assert mine.is_limited(TOPIC)


def test_who_may_look_at_anything_may_look_at_the_cluster_unless_a_rule_takes_it():
    assert reach("", ("orders-*", "operator")).rights_on(Resource.CLUSTER, "cluster") == {Right.VIEW}
    assert NOWHERE.rights_on(Resource.CLUSTER, "cluster") == frozenset()
    closed = reach("operator", ("*", "nothing"), resource=Resource.CLUSTER)
    assert closed.rights_on(Resource.CLUSTER, "cluster") == frozenset()


def test_rules_do_not_bind_administrators():
    mine = reach("admin", ("*", "nothing"))

    assert mine.rights_on(TOPIC, "secret") == frozenset(Right)
    assert not mine.is_limited(TOPIC)


def test_who_may_not_change_every_name_is_limited_in_changing_only():
    assert not reach("viewer", ("orders-*", "operator")).is_limited(TOPIC)
    assert reach("viewer", ("orders-*", "operator")).is_limited(TOPIC, Right.OPERATE)
    assert reach("operator", ("secret-*", "nothing")).is_limited(TOPIC, Right.OPERATE)
    assert not reach("operator", ("orders-*", "viewer")).is_limited(TOPIC, Right.OPERATE)


LETTERS = st.text(alphabet="aA-_%[]\\.*?", max_size=6)


@pytest.mark.django_db
@settings(max_examples=examples(150))
@given(
    names=st.sets(LETTERS.filter(bool), max_size=12),
    rules=st.lists(st.tuples(LETTERS.filter(bool), st.sampled_from(list(AccessLevel))), max_size=4),
    role=st.sampled_from(["", "viewer", "operator", "admin"]),
    right=st.sampled_from([Right.VIEW, Right.OPERATE]),
)
def test_the_database_chooses_what_the_rules_say(names, rules, role, right):
    mine = reach(role, *rules)
    Topic.objects.all().delete()
    Topic.objects.bulk_create(Topic(name=name) for name in names)
    chosen = set(Topic.objects.filter(within(mine, TOPIC, "name", right)).values_list("name", flat=True))

    assert chosen == {name for name in names if right in mine.rights_on(TOPIC, name)}
