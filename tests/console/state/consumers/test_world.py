"""Groups of every kind, looked at by the real classes for an hour, and what must hold at each look."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random

import pytest

from console.state.consumers.rows import GroupRow
from console.state.consumers.verdict import LagVerdict
from console.state.consumers.watch import GroupWatch
from tests.console.state.consumers.world import MINUTE, Reader, World, bursts, day, in_turn, jittery, steady

#: Ticks from one look at the groups to the next.
LOOK_EVERY = 2
LOOKS_PER_MINUTE = MINUTE // LOOK_EVERY
#: Who is behind by less keeps up; by more for so many minutes, and has no less to read, falls behind.
KEEPS_UP_S, FALLS_BEHIND_S, FALLS_BEHIND_MINUTES = 85, 180, 5
#: A change of what is unread by less than this share of what arrived is none.
NOISE = 0.1

KEEPING_UP = ("fast", "merged", "late", "tardy", "minutely", "brisk", "bursty", "quiet")
IN_TROUBLE = ("slow", "sinking", "hung", "dead", "poisoned", "retried", "silent", "outrun", "lone", "leftover")
OTHERS = ("flooded", "rewound", "returning")


@dataclass(slots=True)
class Seen:
    """At one look: what is shown, and what is true."""

    tick: int
    row: GroupRow
    behind_s: int
    unread: int
    appended: int

    def __str__(self) -> str:
        places = ", ".join(
            f"{partition.partition}: {partition.verdict} {partition.lag}" for partition in self.row.partitions
        )
        return (
            f"at {self.tick // MINUTE}:{self.tick % MINUTE:02}, {self.behind_s} s behind, {self.unread} unread: "
            f"{self.row.verdict}, {self.row.trend} {self.row.lag_per_second} ({places})"
        )


@dataclass(slots=True)
class Past:
    reader: Reader
    looks: list[Seen]

    def after(self, minutes: float) -> list[Seen]:
        return [look for look in self.looks if look.tick >= minutes * MINUTE]

    def stretches(self, minutes: float) -> Iterator[list[Seen]]:
        """The looks of every stretch of so many minutes."""
        width = int(minutes * LOOKS_PER_MINUTE) + 1
        return (self.looks[at : at + width] for at in range(len(self.looks) - width + 1))

    def was_reset_within(self, looks: list[Seen]) -> bool:
        return any(looks[0].tick <= tick <= looks[-1].tick for tick in self.reader.resets)


def every_kind(seed: int) -> World:
    world, random = World(seed), Random(seed)
    orders = world.add_topic("orders", 3, jittery(24, random))
    mail = world.add_topic("mail", 2, bursts(10, 2_000, per_second=1))
    flood = world.add_topic("flood", 2, lambda tick: 30_000 if tick == 8 * MINUTE else 5)
    rare = world.add_topic("rare", 2, lambda tick: 1 if tick % (7 * MINUTE) == 100 else 0)
    short = world.add_topic("short", 2, steady(10), keeps=12 * MINUTE)
    brief = world.add_topic("brief", 2, steady(10), keeps=40)
    six = world.add_topic("six", 6, steady(12))
    fast = jittery(500, random)
    world.readers = [
        Reader("fast", orders, fast),
        Reader("merged", orders, fast, commits_in_tick=3),
        Reader("late", orders, fast, commits_in_tick=2, fetched_late=6, repeats=True),
        Reader("tardy", orders, fast, commits_in_tick=2, told_late=25),
        Reader("brisk", brief, fast, commits_every=MINUTE),
        Reader("minutely", orders, fast, commits_every=MINUTE),
        Reader("bursty", mail, steady(100), commits_every=5),
        Reader("quiet", rare, steady(100), commits_every=5),
        Reader("slow", orders, jittery(50, random), turn=200),
        Reader("sinking", orders, in_turn(jittery(45, random), steady(200), 3 * MINUTE, 20), commits_every=5),
        Reader("hung", orders, fast, hangs=10 * MINUTE),
        Reader("dead", orders, fast, leaves=10 * MINUTE),
        Reader("poisoned", six, fast, stuck={six[3]: 5 * MINUTE}),
        Reader("retried", six, fast, stuck={six[3]: 5 * MINUTE}, repeats=True, commits_every=5),
        Reader("silent", orders, fast, never_commits=True),
        Reader("outrun", short, steady(100), leaves=10 * MINUTE),
        Reader("lone", rare, steady(100), leaves=10 * MINUTE),
        Reader("leftover", mail, steady(1_000), commits_every=5, leftovers={orders[0]: 0}),
        Reader("flooded", flood, steady(100), commits_every=5),
        Reader("rewound", orders, jittery(150, random), commits_every=2, resets={16 * MINUTE: 6_000}),
        Reader("returning", orders, jittery(140, random), commits_every=5, begins=12 * MINUTE, turn=10),
    ]
    return world


def played(world: World, minutes: int) -> dict[str, Past]:
    watch = GroupWatch(world, world.now_ms, {})
    pasts = {reader.name: Past(reader, []) for reader in world.readers}
    for _ in range(minutes * MINUTE):
        world.tick()
        if world.tick_count % LOOK_EVERY:
            continue
        rows = watch.look(world.topics(), world.ends_at_ms)
        for name, row in rows.items():
            reader = pasts[name].reader
            true = (world.behind_ticks(reader), world.unread(reader), world.appended(reader))
            pasts[name].looks.append(Seen(world.tick_count, row, *true))
    return pasts


@pytest.fixture(scope="module")
def pasts() -> dict[str, Past]:
    return played(every_kind(seed=1), minutes=28)


@pytest.fixture(scope="module")
def daily() -> Past:
    """At noon records come twice as fast as it reads, at night it reads them all; a day goes by in an hour."""
    world = World(2)
    sun = world.add_topic("sun", 2, day(50, 60))
    world.readers = [Reader("daily", sun, jittery(150, world.random), commits_every=5)]
    return played(world, minutes=60)["daily"]


@pytest.fixture(params=["every kind", "a day"])
def all_pasts(request) -> dict[str, Past]:
    if request.param == "a day":
        return {"daily": request.getfixturevalue("daily")}
    return request.getfixturevalue("pasts")


def wrong(pasts: dict[str, Past], breaks: Callable[[Past], Iterable[Seen]]) -> dict[str, str]:
    """Of each group that breaks a rule the first look at which it does."""
    results = {name: next(iter(breaks(past)), None) for name, past in pasts.items()}
    return {name: str(seen) for name, seen in results.items() if seen is not None}


def test_who_is_behind_and_does_not_get_nearer_for_minutes_is_in_trouble(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for looks in past.stretches(FALLS_BEHIND_MINUTES):
            is_behind = min(look.behind_s for look in looks) > FALLS_BEHIND_S
            gets_nearer = looks[-1].unread < looks[0].unread or past.was_reset_within(looks)
            if is_behind and not gets_nearer and not looks[-1].row.verdict.is_bad:
                yield looks[-1]

    assert wrong(all_pasts, breaks) == {}


def test_who_is_behind_for_minutes_is_never_green(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        return (look for look in past.looks if look.behind_s > FALLS_BEHIND_S + 20 and look.row.verdict.tone == "ok")

    assert wrong(all_pasts, breaks) == {}


def test_who_keeps_up_is_in_trouble_for_no_longer_than_one_look(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for before, now in itertools.pairwise(past.looks):
            keeps_up = max(before.behind_s, now.behind_s) < KEEPS_UP_S
            if keeps_up and before.row.verdict.is_bad and now.row.verdict.is_bad:
                yield now

    assert wrong(all_pasts, breaks) == {}


def test_who_gets_nearer_in_each_of_six_minutes_is_in_no_trouble(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for looks in past.stretches(6):
            every_minute = itertools.pairwise(looks[::LOOKS_PER_MINUTE])
            is_fine = not looks[-1].row.verdict.is_bad or looks[-1].row.verdict is LagVerdict.WENT_BACK
            if all(sank(before, now) for before, now in every_minute) and not is_fine:
                yield looks[-1]

    in_one_partition = ("poisoned", "retried", "leftover")
    rest = {name: past for name, past in all_pasts.items() if name not in in_one_partition}
    assert wrong(rest, breaks) == {}


def test_nobody_went_back_who_did_not(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for now in past.looks:
            went_back = {
                (partition.topic, partition.partition)
                for partition in now.row.partitions
                if partition.verdict is LagVerdict.WENT_BACK
            }
            if not went_back <= past.reader.went_back:
                yield now

    assert wrong(all_pasts, breaks) == {}


def test_the_trend_shown_is_the_trend_measured(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for looks in past.stretches(5):
            now, minutes = looks[-1], list(itertools.pairwise(looks[::LOOKS_PER_MINUTE]))
            if not now.row.lag or past.was_reset_within(looks):
                continue
            is_growing, is_sinking = (all(moved(a, b) for a, b in minutes) for moved in (rose, sank))
            if (is_growing and now.row.trend.value != "growing") or (is_sinking and now.row.trend.value != "shrinking"):
                yield now

    assert wrong(all_pasts, breaks) == {}


def test_the_trend_says_what_the_number_beside_it_says(all_pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        for now in past.looks:
            rate, trend = now.row.lag_per_second, now.row.trend.value
            if (trend == "growing" and rate <= 0) or (trend == "shrinking" and rate >= 0):
                yield now

    assert wrong(all_pasts, breaks) == {}


def test_who_keeps_up_is_green_all_the_time(pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        return (row for row in past.after(0.5) if row.row.verdict is not LagVerdict.OK)

    assert wrong({name: pasts[name] for name in KEEPING_UP}, breaks) == {}


def test_who_does_not_come_back_is_in_trouble_to_the_end(pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        return (row for row in past.after(20) if not row.row.verdict.is_bad)

    assert wrong({name: pasts[name] for name in IN_TROUBLE}, breaks) == {}


def test_who_reads_nothing_is_never_steady(pasts):
    def breaks(past: Past) -> Iterator[Seen]:
        return (row for row in past.after(16) if row.row.trend.value not in ("growing", "unchanged"))

    assert wrong({name: pasts[name] for name in ("hung", "dead", "silent", "lone", "outrun")}, breaks) == {}


def words(past: Past, since_minute: int) -> list[str]:
    """What the group is called one after the other."""
    return [word for word, _ in itertools.groupby(row.row.verdict.value for row in past.after(since_minute))]


def test_each_is_called_what_it_is(pasts):
    results = {name: words(pasts[name], 24) for name in IN_TROUBLE}

    assert results == {
        "slow": ["slow"],
        "sinking": ["slow"],
        "hung": ["stopped"],
        "dead": ["abandoned"],
        "poisoned": ["stalled"],
        "retried": ["stalled"],
        "silent": ["no commit"],
        "outrun": ["lost records"],
        "lone": ["abandoned"],
        "leftover": ["abandoned"],
    }


def test_a_burst_that_takes_minutes_is_worked_off_without_trouble(pasts):
    assert words(pasts["flooded"], 1) == ["ok", "catching up", "ok"]


def test_who_begins_far_behind_and_gets_nearer_is_in_no_trouble(pasts):
    assert words(pasts["returning"], 15) == ["catching up", "ok"]


def test_who_was_set_back_went_back_until_it_is_where_it_was(pasts):
    assert words(pasts["rewound"], 1) == ["ok", "went back", "catching up", "ok"]


def test_nobody_goes_in_and_out_of_trouble_at_each_look(all_pasts):
    def turns(past: Past) -> int:
        in_trouble = [look.row.verdict.is_bad for look in past.looks]
        return sum(before != now for before, now in itertools.pairwise(in_trouble))

    assert {name: turns(past) for name, past in all_pasts.items() if turns(past) > 6} == {}


def test_a_group_that_is_too_slow_by_day_is_in_trouble_by_day(daily):
    assert words(daily, 31) == ["slow", "catching up", "ok"]
    assert words(daily, 1)[0] == "ok"


def rose(before: Seen, now: Seen) -> bool:
    return now.unread - before.unread > max(1, NOISE * (now.appended - before.appended))


def sank(before: Seen, now: Seen) -> bool:
    return before.unread - now.unread > max(1, NOISE * (now.appended - before.appended))
