"""What a reset would do, without a cluster."""

from dataclasses import replace

import pytest

from console.kit.gateway.groups.interface import GroupView, MemberView, OffsetBounds
from console.state.consumers.reset import (
    Aim,
    ResetKind,
    aim_at,
    flat,
    reset_by_aim,
    reset_command,
    reset_plan,
    reset_to,
)

A, B, C = ("orders", 0), ("orders", 1), ("payments", 0)
BOUNDS = {A: OffsetBounds(10, 100), B: OffsetBounds(0, 50), C: OffsetBounds(5, 5)}


def group(state: str = "Empty", members: int = 0, **committed: int) -> GroupView:
    places = {"a": A, "b": B, "c": C}
    people = tuple(MemberView(f"m-{n}", "m", "host", "", ()) for n in range(members))
    return GroupView("readers", state, "", 1, people, {places[name]: offset for name, offset in committed.items()})


def planned(aim: Aim, who: GroupView, bounds=BOUNDS, by_time=None) -> dict:
    aimed = aim_at(aim, {*who.committed, A, B, C}, who, bounds, by_time or {})
    reset = reset_by_aim(who, aimed, bounds)
    return {move.place: move.new for move in reset.moves}


@pytest.mark.parametrize(
    ("aim", "wanted"),
    [
        (Aim(ResetKind.EARLIEST), {A: 10, B: 0, C: 5}),
        (Aim(ResetKind.LATEST), {A: 100, B: 50, C: 5}),
        (Aim(ResetKind.OFFSET, value=20), {A: 20, B: 20, C: 5}),
        (Aim(ResetKind.OFFSET, "orders", value=20), {A: 20, B: 20}),
        (Aim(ResetKind.OFFSET, "orders", frozenset({1}), value=20), {B: 20}),
        (Aim(ResetKind.SHIFT, value=-5), {A: 35, B: 35}),
        (Aim(ResetKind.SHIFT, value=1), {A: 41, B: 41}),
        (Aim(ResetKind.SHIFT, value=1_000), {A: 100, B: 50}),
        (Aim(ResetKind.SHIFT, value=-1_000), {A: 10, B: 0}),
    ],
)
def test_each_kind_aims_inside_the_log(aim, wanted):
    assert planned(aim, group(a=40, b=40)) == wanted


def test_a_moment_takes_the_offsets_found_for_it():
    assert planned(Aim(ResetKind.TIME, at_ms=7), group(a=40), by_time={A: 33, B: 0}) == {A: 33, B: 0}


def test_what_cannot_be_aimed_at_stays_and_says_why():
    who = group(a=40, b=50)
    aimed = aim_at(Aim(ResetKind.LATEST), [A, B], who, {B: OffsetBounds(0, 50)}, {})
    reset = reset_by_aim(who, aimed, {B: OffsetBounds(0, 50)})

    assert reset.moves == ()
    assert [(stay.place, stay.note) for stay in reset.stays] == [
        (A, "its leader does not answer"),
        (B, "is there already"),
    ]


def test_records_read_again_and_skipped_are_counted():
    back, forth = reset_to(group(a=40, b=20), {A: 15, B: 45}, BOUNDS).moves

    assert (back.again, back.skipped) == (25, 0)
    assert (forth.again, forth.skipped) == (0, 25)


def test_records_already_deleted_are_not_skipped():
    (move,) = reset_to(group(a=2), {A: 100}, BOUNDS).moves

    assert move.skipped == 90


def test_what_is_confirmed_is_the_table_and_not_the_kind_again():
    who = group(a=40)
    shown = reset_by_aim(who, aim_at(Aim(ResetKind.LATEST), [A], who, BOUNDS, {}), BOUNDS)
    moved_on = {A: OffsetBounds(10, 777)}
    again = reset_to(who, flat(shown.wanted), moved_on)

    assert again.moves[0].new == 100
    assert reset_plan(who, again, "").confirmed == reset_plan(who, shown, "").confirmed


def test_another_commit_another_state_or_a_log_that_left_it_behind_is_another_plan():
    shown = reset_plan(group(a=40), reset_to(group(a=40), {A: 15}, BOUNDS), "").confirmed
    others = [
        reset_plan(group(a=41), reset_to(group(a=41), {A: 15}, BOUNDS), ""),
        reset_plan(group("Stable", 1, a=40), reset_to(group("Stable", 1, a=40), {A: 15}, BOUNDS), ""),
        reset_plan(group(a=40), reset_to(group(a=40), {A: 15}, {A: OffsetBounds(30, 100)}), ""),
    ]

    assert shown not in [other.confirmed for other in others]


def test_members_are_an_obstacle_with_their_number():
    who = group("Stable", 2, a=40)
    plan = reset_plan(who, reset_to(who, {A: 15}, BOUNDS), "")

    assert "2 members (state Stable)" in plan.obstacle
    assert reset_plan(group(a=40), reset_to(group(a=40), {A: 15}, BOUNDS), "").obstacle == ""


def test_the_former_offsets_take_it_back_also_where_there_was_none():
    reset = reset_to(group(a=40), {A: 15, B: 7}, BOUNDS)
    undone = reset_to(group(a=15, b=7), flat(reset.former), BOUNDS)

    assert {move.place: move.new for move in undone.moves} == {A: 40, B: None}


@pytest.mark.parametrize(
    "nonsense", [[], {"orders": 5}, {"orders": {"x": 1}}, {"orders": {"0": "1"}}, {"o": {"0": -1}}]
)
def test_offsets_that_are_none_are_refused(nonsense):
    with pytest.raises(ValueError, match=r"."):
        flat(nonsense)


BASE = "kafka-consumer-groups.sh --bootstrap-server 127.0.0.1:9092 --group 'my group'"


def command(who: GroupView, wanted: dict) -> str:
    return reset_command(replace(who, group_id="my group"), reset_to(who, wanted, BOUNDS), "127.0.0.1:9092")


def test_the_command_of_one_partition_names_it_and_its_offset():
    assert command(group(a=40, b=40), {A: 15}) == f"{BASE} --reset-offsets --topic orders:0 --to-offset 15 --execute"


def test_the_command_of_many_writes_exactly_what_the_plan_does():
    """Not what stays, and no kind that the tool would work out again."""
    commands = command(group(a=40, b=40, c=5), {A: 15, B: 50, C: 5})
    assert commands == (
        "cat > offsets.csv <<'END'\norders,0,15\norders,1,50\nEND\n"
        f"{BASE} --reset-offsets --from-file offsets.csv --execute"
    )


def test_the_command_takes_away_what_the_plan_does():
    commands = command(group(a=40, b=40, c=5), {A: None, B: None, C: None})
    assert commands.splitlines() == [
        f"{BASE} --delete-offsets --topic orders:0,1",
        f"{BASE} --delete-offsets --topic payments:0",
    ]


def test_a_group_that_is_not_there_yet_is_said_to_begin():
    nobody = group("Dead")
    plan = reset_plan(nobody, reset_to(nobody, {A: 100}, BOUNDS), "")
    assert any("There is no such group yet" in touch for touch in plan.touches)
    assert plan.obstacle == ""


def test_records_that_are_gone_are_counted_and_no_reset_promises_them():
    reader = group(a=2, b=20)
    aimed = aim_at(Aim(ResetKind.EARLIEST), {A}, reader, BOUNDS, {})
    plan = reset_plan(reader, reset_by_aim(reader, aimed, BOUNDS), "")
    assert "8 records that it had not read were deleted by retention: no offset brings them back." in plan.touches
    assert plan.safe_because == "Every unread record that is left is still read."
