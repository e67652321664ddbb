import pytest

from console.plans.plan import (
    NAMED_MAX,
    Confirmation,
    Line,
    MovedOnError,
    NameNotTypedError,
    ObstacleError,
    Plan,
    check,
    digest_of,
)


def plan(**values) -> Plan:
    return Plan("rename", "thing", "lamp", (Line("colour", "red", "blue"),), ("colour=red",), **values)


def test_what_was_shown_is_confirmed_by_its_digest():
    check(plan(), Confirmation(plan().digest))


def test_a_digest_of_another_moment_is_refused():
    with pytest.raises(MovedOnError, match="has changed since it was shown"):
        check(plan(), Confirmation(digest_of(["colour=green"])))


def test_a_destructive_plan_needs_its_name_exactly():
    wanted = plan(typed_name="lamp")
    for typed in ("", "Lamp", "lamp "):
        with pytest.raises(NameNotTypedError, match="exactly, lamp"):
            check(wanted, Confirmation(wanted.digest, typed))
    check(wanted, Confirmation(wanted.digest, "lamp"))


def test_an_obstacle_refuses_what_is_confirmed_rightly():
    with pytest.raises(ObstacleError, match="members"):
        check(plan(obstacle="It has members."), Confirmation(plan().digest))


def test_no_two_lists_of_texts_have_one_digest():
    assert digest_of(["ab", "c"]) != digest_of(["a", "bc"]) != digest_of(["abc"])


def test_long_plans_are_named_in_part_and_counted():
    lines = tuple(Line(f"p-{n}", n, n + 1) for n in range(NAMED_MAX + 7))
    long = Plan("move", "thing", "lamp", lines, ())

    assert len(long.before) == NAMED_MAX + 1
    assert long.after["and more"] == 7


def test_a_confirmation_cuts_what_nobody_types():
    read = Confirmation.parse({"digest": "d" * 999, "typed_name": "n" * 9_999})

    assert (len(read.digest), len(read.typed_name)) == (64, 1_024)
