"""Groups become rights, and nobody gets more than what is written down."""

import itertools
import random

import pytest

from console.kit.access.reach import AccessLevel, Resource, matches
from console.kit.access.roles import ROLES
from console.people.sso.group_rules import (
    RULES_OF_PERSON_MAX,
    Grant,
    GroupRules,
    GroupRulesError,
    TooManyRulesError,
    parse_rules,
)

TEXT = """
default = "viewer"
[groups.admins]
role = "admin"
[groups."Payments Team"]
role = "reader"
rules = ["operator on topic payments.*", "nothing on topic payments.cards"]
[groups.audit]
rules = ["viewer on topic payments.cards", "reader on topic payments.*"]
"""
NAMES = ("payments.in", "payments.cards", "orders", "Payments.in")


def test_a_file_says_role_and_rules_of_each_group():
    rules = parse_rules(TEXT)

    assert rules.grant_of(["admins"]).role == "admin"
    grant = rules.grant_of(["Payments Team", "audit", "unknown", "audit"])
    assert (grant.role, grant.groups) == ("reader", ("Payments Team", "audit"))
    assert [str(rule) for rule in grant.rules] == ["operator on topic payments.*", "nothing on topic payments.cards"]
    assert rules.grant_of([]) == Grant("viewer")
    assert parse_rules('[groups.a]\nrole = "viewer"').grant_of(["A"]) is None
    assert parse_rules("").grant_of(["admins"]) is None


@pytest.mark.parametrize(
    "text",
    [
        "default = ",
        'default = "admin"',
        'default = "root"',
        "default = 7",
        'defualt = "viewer"',
        'groups = ["admins"]',
        '[groups]\nadmins = "admin"',
        '[groups.a]\nroles = "admin"',
        '[groups.a]\nrole = ["admin"]',
        '[groups.a]\nrules = "operator on topic x"',
        '[groups.a]\nrules = ["admin on topic x"]',
        '[groups.a]\nrules = ["operator on records x"]',
        '[groups.a]\nrules = ["operator topic x"]',
        '[groups.a]\nrules = ["operator on topic x y"]',
        '[groups.a]\nrules = ["operator on topic a*b*c*d*"]',
        '[groups.a]\nrules = ["operator on cluster x"]',
        "[groups.a]\nrules = [7]",
        '[groups.a]\nrules = ["operator on topic ' + "x" * 250 + '"]',
    ],
    ids=lambda text: text[:40],
)
def test_what_is_misspelt_is_refused_and_not_left_out(text):
    with pytest.raises(GroupRulesError):
        parse_rules(text)


def worlds(seed: int) -> GroupRules:
    """Rules as somebody might write them, for five groups."""
    choose = random.Random(seed)

    def rule() -> str:
        pattern = choose.choice(["payments.*", "payments.cards", "*", "orders", "?ayments.in"])
        return f"{choose.choice(list(AccessLevel))} on {choose.choice(['topic', 'group'])} {pattern}"

    lines = [f'default = "{choose.choice(["viewer", "none", "reader"])}"'] if choose.random() < 0.5 else []
    for name in "abcde":
        lines += [f"[groups.{name}]", f'role = "{choose.choice(["none", *ROLES])}"' if choose.random() < 0.6 else ""]
        lines += [f"rules = {[rule() for _ in range(choose.randrange(4))]}"]
    return parse_rules("\n".join(lines))


@pytest.mark.parametrize("seed", range(60))
def test_a_person_has_what_the_groups_give_together_less_what_one_takes_and_nothing_else(seed):
    rules = worlds(seed)
    for count in range(4):
        for held in itertools.combinations("abcdex", count):
            grant = rules.grant_of(held)
            declared = [rules.groups[item] for item in held if item in rules.groups]
            if grant is None:
                assert not declared
                assert not rules.default
                continue
            roles = [rules.default or "none", *(item.role for item in declared)]
            role_rights = frozenset().union(*(ROLES.get(role, frozenset()) for role in roles))
            assert ROLES.get(grant.role, frozenset()) == role_rights
            if "admin" in roles:
                continue
            for resource, name in itertools.product((Resource.TOPIC, Resource.GROUP), NAMES):
                matching = [
                    rule
                    for acl in declared
                    for rule in acl.rules
                    if rule.resource is resource and matches(rule.pattern, name)
                ]
                wanted = role_rights.union(*(rule.level.rights for rule in matching))
                if any(rule.level is AccessLevel.NOTHING for rule in matching):
                    wanted = frozenset()
                assert grant.reach.rights_on(resource, name) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_leaving_a_group_never_gives_a_role_and_order_and_strangers_do_not_matter(seed):
    rules = worlds(seed)
    order = ("none", *ROLES)
    for held in itertools.combinations("abcde", 3):
        grant = rules.grant_of(held)
        assert grant == rules.grant_of([*reversed(held), "A", "stranger", "", held[0]])
        for left in itertools.combinations(held, 2):
            less = rules.grant_of(left)
            assert order.index(less.role) <= order.index(grant.role)


def test_more_rules_than_are_kept_are_refused_and_not_cut_off():
    tables = [
        f"[groups.g{n}]\nrules = {[f'nothing on topic t{n}-{m}' for m in range(50)]}"
        for n in range(RULES_OF_PERSON_MAX // 50 + 1)
    ]
    with pytest.raises(TooManyRulesError):
        parse_rules("\n".join(tables)).grant_of(f"g{n}" for n in range(100))
