"""A small world of topics and groups that `GroupWatch` looks at: what it is told is as late and as jumbled as what a
cluster tells, and what is true is known besides.

Time goes in ticks of a second. Ends of logs are up to 2 s old, offsets are fetched before the commits are read
and are up to a second older (more where a group says so), and commits come several to a second.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from console.kit.gateway.groups.interface import (
    CommitView,
    GroupsView,
    GroupView,
    MemberView,
    TopicPartition,
    UnreadView,
)
from console.state.clusters.topic_rows import PartitionRow, TopicRow

TICK_MS = 1_000
START_MS = 1_700_000_000_000
#: In ticks.
MINUTE = 60


@dataclass
class Log:
    """A partition. `rate(tick)` is how many records arrive in a tick."""

    rate: Callable[[int], float]
    keeps_ticks: int | None = None
    ends: list[int] = field(default_factory=list)
    carry: float = 0.0

    def tick(self, tick: int) -> None:
        self.carry += self.rate(tick)
        arrived = int(self.carry)
        self.carry -= arrived
        self.ends.append((self.ends[-1] if self.ends else 0) + arrived)

    @property
    def end(self) -> int:
        return self.ends[-1]

    @property
    def first(self) -> int:
        if self.keeps_ticks is None or len(self.ends) <= self.keeps_ticks:
            return 0
        return self.ends[-1 - self.keeps_ticks]

    def appended_at(self, offset: int) -> int:
        """The tick in which the record at `offset` came."""
        return bisect_right(self.ends, offset)


@dataclass
class Reader:
    """A group of one member. `rate(tick)` is how many records it reads in a tick, of all its partitions."""

    name: str
    places: list[TopicPartition]
    rate: Callable[[int], float]
    commits_every: int = 1
    commits_in_tick: int = 1
    #: Reads one partition for so many ticks, then the next; 0: all at once.
    turn: int = 0
    #: Of these nothing is read from then on.
    stuck: dict[TopicPartition, int] = field(default_factory=dict)
    #: Commits what it has committed before again, as the Java client does; otherwise only what moved.
    repeats: bool = False
    never_commits: bool = False
    begins: int = 0
    hangs: int | None = None
    leaves: int | None = None
    #: tick → how far every partition is set back while nobody is in the group.
    resets: dict[int, int] = field(default_factory=dict)
    #: The offsets that are fetched are those from before so many commits.
    fetched_late: int = 0
    #: Every other minute the offsets topic tells of its commits so many ticks late.
    told_late: int = 0
    leftovers: dict[TopicPartition, int] = field(default_factory=dict)
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    committed: dict[TopicPartition, int] = field(default_factory=dict)
    #: What was committed before each of the newest commits, and now.
    fetched: list[dict[TopicPartition, int]] = field(default_factory=list)
    went_back: set[TopicPartition] = field(default_factory=set)

    def is_there(self, tick: int) -> bool:
        return tick >= self.begins and (self.leaves is None or tick < self.leaves)

    def is_reading(self, tick: int) -> bool:
        return self.is_there(tick) and (self.hangs is None or tick < self.hangs)


class World:
    """The cluster, and at the same time the gateway to it."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.tick_count = 0
        self.logs: dict[TopicPartition, Log] = {}
        self.readers: list[Reader] = []
        self._arrived: list[tuple[int, CommitView]] = []
        self._topics: dict[str, TopicRow] = {}
        self.ends_at_ms = START_MS

    @property
    def groups(self) -> "World":
        return self

    def now_ms(self) -> int:
        return START_MS + self.tick_count * TICK_MS

    def add_topic(
        self, name: str, count: int, rate: Callable[[int], float], keeps: int | None = None
    ) -> list[TopicPartition]:
        """`rate(tick)` of each partition."""
        places = [(name, number) for number in range(count)]
        self.logs.update({place: Log(rate, keeps) for place in places})
        return places

    def tick(self) -> None:
        for log in self.logs.values():
            log.tick(self.tick_count)
        for reader in self.readers:
            self._step(reader)
        self.tick_count += 1
        if self.tick_count % 2 == 1:
            self._look_at_topics()

    # What the console asks -------------------------------------------------------------------------------------------

    def describe(self) -> GroupsView:
        views = [self._view(reader) for reader in self.readers if self.tick_count > reader.begins or reader.committed]
        return GroupsView(tuple(views), frozenset([1]))

    def commits(self) -> list[CommitView]:
        """Those of groups that are told of late wait."""
        arrived = [commit for due, commit in self._arrived if due <= self.tick_count]
        self._arrived = [(due, commit) for due, commit in self._arrived if due > self.tick_count]
        return arrived

    def first_unread(self, positions: dict[TopicPartition, int]) -> dict[TopicPartition, UnreadView]:
        views = {}
        for place, offset in positions.items():
            log = self.logs[place]
            if log.first <= offset < log.end:
                views[place] = UnreadView(offset, self._ms(log.appended_at(offset)))
        return views

    def topic_settings(self, _topic: str) -> list:
        return []

    def topics(self) -> dict[str, TopicRow]:
        """As they were at `ends_at_ms`."""
        return self._topics

    # What is true ----------------------------------------------------------------------------------------------------

    def behind_ticks(self, reader: Reader) -> int:
        """How long the oldest record has waited that the group has not committed."""
        waits = []
        for place in {*reader.places, *reader.committed}:
            log, offset = self.logs[place], reader.committed.get(place, 0)
            if offset < log.end:
                waits.append(self.tick_count - log.appended_at(offset))
        return max(waits, default=0)

    def unread(self, reader: Reader) -> int:
        places = {*reader.places, *reader.committed}
        return sum(self.logs[place].end - reader.committed.get(place, 0) for place in places)

    def appended(self, reader: Reader) -> int:
        return sum(self.logs[place].end for place in {*reader.places, *reader.committed})

    # How it goes on --------------------------------------------------------------------------------------------------

    def _step(self, reader: Reader) -> None:
        if self.tick_count in reader.resets:
            self._reset(reader, reader.resets[self.tick_count])
        if reader.is_reading(self.tick_count):
            for part in range(reader.commits_in_tick):
                self._read(reader, reader.rate(self.tick_count) / reader.commits_in_tick)
                is_due = (self.tick_count - reader.begins) % reader.commits_every == 0
                if is_due and not reader.never_commits:
                    self._commit(reader, part)
        reader.fetched.append(dict(reader.committed))
        del reader.fetched[: -2 - reader.fetched_late]

    def _reset(self, reader: Reader, back: int) -> None:
        for place, offset in reader.committed.items():
            reader.positions[place] = max(self.logs[place].first, offset - back)
        self._commit(reader, 0)

    def _read(self, reader: Reader, budget: float) -> None:
        stuck = {place for place, since in reader.stuck.items() if self.tick_count >= since}
        places = [place for place in reader.places if place not in stuck]
        for place in reader.places:
            reader.positions.setdefault(place, self.logs[place].first)
        if reader.turn:
            places = [places[self.tick_count // reader.turn % len(places)]]
        waiting = [place for place in places if reader.positions[place] < self.logs[place].end]
        left = math.floor(budget + self.random.random())
        for number, place in enumerate(waiting):
            log = self.logs[place]
            begin = max(reader.positions[place], log.first)
            taken = min(log.end - begin, left // (len(waiting) - number))
            reader.positions[place] = begin + taken
            left -= taken

    def _commit(self, reader: Reader, part: int) -> None:
        length_ms = TICK_MS // reader.commits_in_tick
        at_ms = self.now_ms() + part * length_ms + self.random.randrange(length_ms)
        if part:
            reader.fetched.append(dict(reader.committed))
        for place, offset in [*reader.positions.items(), *reader.leftovers.items()]:
            before = reader.committed.get(place)
            if before == offset and (not reader.repeats or place in reader.leftovers):
                continue
            if before is not None and offset < before:
                reader.went_back.add(place)
            reader.committed[place] = offset
            due = self.tick_count + (reader.told_late if self.tick_count // 60 % 2 else 0)
            self._arrived.append((due, CommitView(reader.name, place, offset, at_ms)))

    def _look_at_topics(self) -> None:
        by_topic: dict[str, list[PartitionRow]] = {}
        for (topic, number), log in self.logs.items():
            row = PartitionRow(number, 1, 1, (1,), (1,), log.first, log.end, None)
            by_topic.setdefault(topic, []).append(row)
        self._topics = {name: TopicRow(name, "", False, tuple(rows)) for name, rows in by_topic.items()}
        self.ends_at_ms = self.now_ms()

    def _view(self, reader: Reader) -> GroupView:
        late = 1 + reader.fetched_late + self.random.randrange(2)
        committed = reader.fetched[-late] if len(reader.fetched) >= late else {}
        if not reader.is_there(self.tick_count):
            return GroupView(reader.name, "Empty", "consumer", 1, (), committed)
        member = MemberView(f"{reader.name}-1", reader.name, "host", "", tuple(reader.places))
        return GroupView(reader.name, "Stable", "consumer", 1, (member,), committed)

    def _ms(self, tick: int) -> int:
        return START_MS + tick * TICK_MS


def steady(per_second: float) -> Callable[[int], float]:
    return lambda _tick: per_second


def jittery(per_second: float, random: Random, spread: float = 0.5) -> Callable[[int], float]:
    return lambda _tick: per_second * random.uniform(1 - spread, 1 + spread)


def bursts(every_minutes: int, records: int, per_second: float = 0.0) -> Callable[[int], float]:
    """So many records at once, now and then, and a trickle besides."""
    return lambda tick: per_second + (records if tick % (every_minutes * MINUTE) == 5 * MINUTE else 0)


def day(per_second: float, minutes: int) -> Callable[[int], float]:
    """A day's curve, run through in so many minutes: next to nothing at night, twice the mean at noon."""
    return lambda tick: per_second * (1 - math.cos(2 * math.pi * tick / (minutes * MINUTE)))


def in_turn(usual: Callable[[int], float], other: Callable[[int], float], every: int, lasting: int) -> Callable:
    """`other` for `lasting` ticks of `every`."""
    return lambda tick: (other if tick % every < lasting else usual)(tick)
