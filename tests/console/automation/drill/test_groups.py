"""Which groups a drill was felt by: judged against what was ordinary before, without a cluster."""

import pytest

from console.automation.drill.groups import WATCHED_MAX, GroupLook, affected, looked_on, read_stories, summary, went_on

FAULT_MS = 20_000


def look(at_ms: int, lag: int = 0, waited_s: float = 0, name: str = "billing", **named) -> GroupLook:
    since_ms = at_ms - int(waited_s * 1_000) if lag else None
    return GroupLook(
        **{"state": "Stable", "coordinator": 1, "members": 7} | named, name=name, lag=lag, since_ms=since_ms
    )


def stories_of(before: list, after: list):
    """Looks of one group, a second apart: (lag, seconds waited) or a dictionary of `look`."""
    stories = {}
    for second, item in enumerate(before):
        at_ms = 10_000 + second * 1_000
        stories = looked_on(stories, [_made(at_ms, item)], at_ms)
    for second, item in enumerate(after):
        at_ms = FAULT_MS + second * 1_000
        stories = went_on(stories, [_made(at_ms, item)], at_ms, 1_000)
    return stories


def _made(at_ms: int, fields: tuple | dict) -> GroupLook:
    return look(at_ms, **fields) if isinstance(fields, dict) else look(at_ms, *fields)


def test_who_has_more_unread_than_before_for_longer_fell_behind_by_how_much_and_how_long():
    stalled = [(10 * second, second) for second in range(10)]
    stories = stories_of([(0, 0), (5, 1), (0, 0)], [*stalled, (2, 1), (0, 0)])
    (line,) = affected(stories)
    assert line.late == "85 records more than before, the oldest 9 s old, for 4 s"
    assert (line.shared, line.is_still_late) == ("", False)
    assert summary(stories, 0) == "1 fell behind, 0 rebalanced, 0 with another coordinator, 0 as before"


def test_who_has_not_caught_up_by_its_end_is_said_to_be_behind_still():
    (line,) = affected(stories_of([(0, 0)], [(10 * second, second) for second in range(10)]))
    assert line.is_still_late
    assert line.late.endswith("and still")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([(0, 0), (0, 0)], [(0, 0)] * 5),
        ([(0, 0), (90, 9), (0, 0)], [(80, 9), (0, 0), (90, 12)]),
        ([(1, 1), (1, 0.5)], [(900, 2), (900, 1)]),
        ([(1, 1), (1, 0.5)], [(1, 60)]),
    ],
    ids=["reads all", "in bursts", "much arrives", "a record that is old"],
)
def test_what_is_ordinary_is_nothing(before, after):
    stories = stories_of(before, after)
    assert affected(stories) == []
    assert summary(stories, 3) == "0 fell behind, 0 rebalanced, 0 with another coordinator, 1 as before, 3 not watched"


def test_who_was_stuck_before_is_not_the_drills():
    """Its oldest record waits longer with each second, whatever is done to a broker."""
    before = [(10 + second, 100 + second) for second in range(10)]
    after = [(20 + second, 110 + second) for second in range(30)]
    assert affected(stories_of(before, after)) == []


@pytest.mark.parametrize(
    "state", ["PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "PREPARING_REBALANCING"]
)
def test_who_is_seen_sharing_its_partitions_rebalanced_once_however_many_looks_that_took(state):
    after = [{"state": state}, {"state": state}, {}, {}]
    (line,) = affected(stories_of([(0, 0)], after))
    assert (line.late, line.shared) == ("", "once")


def test_members_that_are_others_shared_though_nobody_saw_it_and_twice_is_twice():
    (line,) = affected(stories_of([(0, 0)], [{"members": 8}, {"members": 8}, {"members": 7}]))
    assert line.sentence == "rebalanced 2 times"


def test_another_coordinator_and_seconds_of_silence_are_said():
    silent = {"is_silent": True}
    stories = stories_of([(0, 0)], [silent, silent, {"coordinator": 3}])
    (line,) = affected(stories)
    assert (line.late, line.shared) == ("", "")
    assert summary(stories, 0).startswith("0 fell behind, 0 rebalanced, 1 with another coordinator, 0")
    assert line.also == "broker 3 coordinates it now, no report of it for 2 s"


def test_who_is_worst_off_comes_first():
    stories = {}
    for name in ("a", "b", "c"):
        stories = looked_on(stories, [look(0, name=name)], 0)
    for second in range(12):
        at_ms = second * 1_000
        here = [look(at_ms, 5 * second, second if name != "a" else 0, name=name) for name in ("a", "b", "c")]
        here[1] = look(at_ms, 5 * second, max(0, second - 3), name="b")
        stories = went_on(stories, here, at_ms, 1_000)
    assert [story.name for story in affected(stories)] == ["c", "b"]


def test_no_more_are_watched_than_are_kept_and_who_comes_later_is_nobodys_victim():
    crowd = [look(0, name=f"group-{number}") for number in range(WATCHED_MAX + 5)]
    stories = looked_on({}, crowd, 0)
    assert len(stories) == WATCHED_MAX
    assert went_on(stories, [look(0, name="new")], 0, 1_000).keys() == stories.keys()


def test_a_group_that_was_deleted_meanwhile_stays_as_it_was_last():
    stories = stories_of([(0, 0)], [(0, 0)])
    assert went_on(stories, [], 0, 1_000) == stories


def test_stories_survive_the_database():
    stories = stories_of([(0, 0)], [(10 * second, second) for second in range(10)])
    assert read_stories({name: item.as_json() for name, item in stories.items()}) == stories
