"""Which plans rules are about, and what they ask of them."""

from datetime import UTC, datetime

import pytest

from console.kit.plans.plan import Plan, PlanLine
from console.shell.changes.rules import ApprovalRule, RuleError, demand_of, parse_rule

NOON = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)  # a Wednesday
APPROVAL = {"kind": "approval", "actions": ["delete topic"], "objects": ["prod.*"]}
NIGHT = {"kind": "window", "actions": ["*"], "objects": ["prod.*"], "days": ["wed"], "begins": "22:00", "ends": "23:00"}
FROZEN = {"kind": "freeze", "actions": ["*"], "objects": ["*"], "from": "2026-11-25T00:00", "to": "2026-11-27T00:00"}


def plan(action="delete topic", name="prod.orders", object_type="topic", about=(), parts=()) -> Plan:
    return Plan(action, object_type, name, (PlanLine("x", 1, 2),), (), about=about, parts=parts)


def rule(fields, **more) -> ApprovalRule:
    return parse_rule("r", {**fields, **more})


def test_an_action_on_a_name_that_fits_needs_a_second_person():
    held = demand_of([rule(APPROVAL, why="Customers read it")], plan(), NOON).hold(
        plan(), is_approved=False, in_emergency=False
    )
    assert (held.needs_person, held.can_wait, held.rules) == (True, True, ("r",))
    assert held.sentence == "It needs a second person (rule r: Customers read it)."
    assert not demand_of([rule(APPROVAL)], plan(name="test.orders"), NOON).approval
    assert not demand_of([rule(APPROVAL)], plan(action="create topic"), NOON).approval


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (plan(action="undo create topic"), True),
        (plan(name="3 topics", about=("a", "prod.b")), True),
        (plan(name="3 topics", about=("a", "b")), False),
        (plan(action="apply declaration", name="f.yaml", parts=(plan(name="a"), plan())), True),
        (plan(action="apply declaration", name="f.yaml", parts=(plan(name="a"),)), False),
    ],
)
def test_undo_bulk_and_files_are_what_they_do(change, expected):
    assert bool(demand_of([rule(APPROVAL)], change, NOON).approval) is expected


@pytest.mark.parametrize("action", ["undo move", "drain broker", "spread replicas", "drain and remove broker"])
def test_whatever_moves_partitions_moves_partitions(action):
    assert demand_of([rule(APPROVAL, actions=["move partitions"])], plan(action), NOON).approval


@pytest.mark.parametrize(
    ("name", "expected"),
    [("prod.orders", True), ("prod.*", True), ("pro*", True), ("*", True), ("prod.x*", True), ("prox*", False)],
)
def test_access_rules_of_a_prefix_are_about_all_that_begins_so(name, expected):
    change = plan("create access rules", "cluster", "access lists", about=(name,))
    approval = rule(APPROVAL, actions=["change access rules"])
    assert bool(demand_of([approval], change, NOON).approval) is expected


def test_outside_of_a_window_it_waits_and_says_until_when():
    demand = demand_of([rule(NIGHT)], plan(), NOON)
    held = demand.hold(plan(), is_approved=True, in_emergency=False)
    assert (held.can_wait, held.needs_person, held.is_closed) == (True, False, True)
    assert "possible from 2026-11-25 22:00 UTC" in held.sentence
    assert demand.hold(plan(), is_approved=False, in_emergency=True) is None
    refused = demand_of([rule(NIGHT, outside="refuse")], plan(), NOON).hold(
        plan(), is_approved=False, in_emergency=False
    )
    assert (refused.can_wait, "Nothing was changed" in refused.sentence) == (False, True)
    assert not demand_of([rule(NIGHT)], plan(), NOON.replace(hour=22)).closed


def test_a_freeze_and_a_window_together_open_when_both_do():
    demand = demand_of([rule(NIGHT), rule(FROZEN)], plan(), NOON)
    assert demand.opens_at == datetime(2026, 12, 2, 22, 0, tzinfo=UTC)
    assert len(demand.closed) == 2


def test_an_emergency_is_no_second_person():
    demand = demand_of([rule(APPROVAL), rule(NIGHT)], plan(), NOON)
    assert demand.hold(plan(), is_approved=False, in_emergency=True).needs_person


def test_what_makes_a_secret_cannot_wait():
    change = plan("create Kafka user", "prod.app", "Kafka user")
    held = demand_of([rule(APPROVAL, actions=["*"])], change, NOON).hold(change, is_approved=False, in_emergency=False)
    assert (held.can_wait, "secret" in held.sentence) == (False, True)


def test_rules_are_changed_by_two_as_soon_as_one_asks_for_it():
    change = plan("remove change rule", "r", "change rule")
    assert demand_of([rule(APPROVAL)], change, NOON).approval
    assert not demand_of([rule(NIGHT, objects=["*"])], change, NOON).closed
    assert not demand_of([], change, NOON).approval


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({**APPROVAL, "kind": "whim"}, "kinds"),
        ({**APPROVAL, "actions": []}, "names actions"),
        ({**APPROVAL, "objects": ["a" * 250]}, "names objects"),
        ({**APPROVAL, "objects": ["*a" * 6]}, "names objects"),
        ({**NIGHT, "zone": "Mars/Olympus"}, "no time zone"),
        ({**NIGHT, "days": ["someday"]}, "days"),
        ({**NIGHT, "begins": "25:00"}, "begins and ends at a time"),
        ({**FROZEN, "to": "2026-11-01T00:00"}, "ends after it begins"),
        ({**FROZEN, "from": "soon"}, "a moment from which"),
    ],
)
def test_what_is_no_rule(fields, says):
    with pytest.raises(RuleError, match=says):
        rule(fields)
