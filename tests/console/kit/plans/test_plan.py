from dataclasses import fields, replace

import pytest

from console.kit.plans.plan import (
    NAMED_MAX,
    Confirmation,
    MovedOnError,
    NameNotTypedError,
    ObstacleError,
    Plan,
    PlanLine,
    check,
)

SHOWN = "the digest that was shown"


def plan(**values) -> Plan:
    return Plan("rename", "thing", "lamp", (PlanLine("colour", "red", "blue"),), ("colour=red",), **values)


def test_what_was_shown_is_confirmed_by_its_digest():
    check(plan(), Confirmation(SHOWN), SHOWN)


@pytest.mark.parametrize("digest", ["", "another", "ünïcode", SHOWN[:-1]])
def test_another_digest_is_refused(digest):
    with pytest.raises(MovedOnError, match="has changed since it was shown"):
        check(plan(), Confirmation(digest), SHOWN)


def test_a_destructive_plan_needs_its_name_exactly():
    wanted = plan(typed_name="lamp")
    for typed in ("", "Lamp", "lamp "):
        with pytest.raises(NameNotTypedError, match="exactly, lamp"):
            check(wanted, Confirmation(SHOWN, typed), SHOWN)
    check(wanted, Confirmation(SHOWN, "lamp"), SHOWN)


def test_an_obstacle_refuses_what_is_confirmed_rightly():
    with pytest.raises(ObstacleError, match="members"):
        check(plan(obstacle="It has members."), Confirmation(SHOWN), SHOWN)


def test_every_field_is_confirmed_but_for_the_words_about_it():
    others = {field.name: replace(plan(), **{field.name: ("new",)}) for field in fields(Plan) if field.name != "lines"}
    fields_alike = {name for name, other in others.items() if other.confirmed == plan().confirmed}

    assert fields_alike == {"touches", "losses", "safe_because", "command", "obstacle", "about", "parts", "clusters"}


@pytest.mark.parametrize(
    "other", [PlanLine("x", "red", "blue"), PlanLine("colour", "x", "blue"), PlanLine("colour", "red", "x")]
)
def test_every_part_of_every_line_is_confirmed(other):
    assert replace(plan(), lines=(other,)).confirmed != plan().confirmed


def test_of_a_line_that_changes_by_itself_the_name_is_confirmed():
    def holding(records: int, name: str = "records") -> Plan:
        return replace(plan(), lines=(PlanLine(name, records, None, is_told=True),))

    assert holding(1).confirmed == holding(2).confirmed != holding(1, "others").confirmed


def test_long_plans_are_named_in_part_and_counted():
    lines = tuple(PlanLine(f"p-{n}", n, n + 1) for n in range(NAMED_MAX + 7))
    long = Plan("move", "thing", "lamp", lines, ())

    assert len(long.before) == NAMED_MAX + 1
    assert long.after["and more"] == 7


def test_a_confirmation_cuts_what_nobody_types():
    read = Confirmation.parse({"digest": "d" * 999, "typed_name": "n" * 9_999})

    assert (len(read.digest), len(read.typed_name)) == (64, 1_024)
