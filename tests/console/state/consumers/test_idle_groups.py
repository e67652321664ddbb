"""Looks that pass over groups at rest find what a look at all of them finds, whatever topics and groups do."""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from console.kit.gateway.groups.interface import CommitView, GroupsView, GroupView, MemberView, UnreadView
from console.state.clusters.topic_rows import PartitionRow, TopicRow
from console.state.consumers.watch import GroupWatch
from tests.examples import examples

GROUPS, TOPICS = ("audit", "billing"), ("clicks", "orders")
PLACES = [(topic, partition) for topic in TOPICS for partition in (0, 1)]
START_MS = 1_700_000_000_000


@dataclass
class Stage:
    """A cluster, and the gateway of any number of watches: each look hears the same."""

    at_ms: int = START_MS
    ends_at_ms: int = START_MS
    firsts: dict = field(default_factory=lambda: dict.fromkeys(PLACES, 0))
    ends: dict = field(default_factory=lambda: dict.fromkeys(PLACES, 100))
    committed: dict = field(default_factory=lambda: {name: dict.fromkeys(PLACES, 100) for name in GROUPS})
    holders: set = field(default_factory=lambda: set(GROUPS))
    silent: set = field(default_factory=set)
    commit_views: list = field(default_factory=list)
    rows: dict = field(default_factory=dict)

    @property
    def groups(self) -> "Stage":
        return self

    def now_ms(self) -> int:
        return self.at_ms

    def describe(self) -> GroupsView:
        views = [self._view(name, places) for name, places in self.committed.items() if name not in self.silent]
        return GroupsView(tuple(views), frozenset() if self.silent else frozenset([1]))

    def commits(self) -> list[CommitView]:
        return self.commit_views

    def first_unread(self, positions) -> dict:
        return {place: UnreadView(offset, self.at_ms - 7_000) for place, offset in positions.items() if offset % 3}

    def topic_settings(self, _topic) -> list:
        return []

    def topics(self) -> dict[str, TopicRow]:
        """The same row as before where it reads the same."""
        for topic in TOPICS:
            there = [place for place in PLACES if place[0] == topic and place in self.ends]
            partitions = tuple(
                PartitionRow(place[1], 1, 1, (1,), (1,), self.firsts[place], self.ends[place], None) for place in there
            )
            row = TopicRow(topic, "", False, partitions)
            if not there:
                self.rows.pop(topic, None)
            elif self.rows.get(topic) != row:
                self.rows[topic] = row
        return dict(self.rows)

    def _view(self, name: str, places: dict) -> GroupView:
        is_held = name in self.holders
        members = (MemberView(f"{name}-1", name, "host", "", tuple(PLACES[:2])),) if is_held else ()
        return GroupView(name, "Stable" if is_held else "Empty", "consumer", 1, members, dict(places))


def grow(stage, _name, place, count):
    if place in stage.ends:
        stage.ends[place] += count


def read_all(stage, name, place, count):
    """Every other time the offsets topic does not tell of it."""
    if name in stage.committed and place in stage.ends:
        stage.committed[name][place] = stage.ends[place]
        if count % 2:
            stage.commit_views.append(CommitView(name, place, stage.ends[place], stage.at_ms))


def commit_again(stage, name, place, _count):
    if place in stage.committed.get(name, {}):
        stage.commit_views.append(CommitView(name, place, stage.committed[name][place], stage.at_ms - 500))


def go_back(stage, name, place, count):
    if place in stage.committed.get(name, {}):
        stage.committed[name][place] = max(0, stage.committed[name][place] - count)
        stage.commit_views.append(CommitView(name, place, stage.committed[name][place], stage.at_ms))


def lose_commit(stage, name, place, _count):
    if stage.committed.get(name, {}).pop(place, None) is not None:
        stage.commit_views.append(CommitView(name, place, None, stage.at_ms))


def delete_records(stage, _name, place, count):
    if place in stage.ends:
        stage.firsts[place] = min(stage.firsts[place] + 20 * count, stage.ends[place])


def lose_partition(stage, _name, place, _count):
    stage.ends.pop(place, None)


def make_anew(stage, _name, place, count):
    stage.firsts[place], stage.ends[place] = 0, count


def come_and_go(stage, name, _place, _count):
    stage.holders ^= {name}


def vanish_or_return(stage, name, _place, _count):
    if stage.committed.pop(name, None) is None:
        stage.committed[name] = dict.fromkeys(PLACES[:3], 100)


def fall_silent_or_speak(stage, name, _place, _count):
    stage.silent ^= {name}


HAPPENINGS = st.tuples(
    st.sampled_from(
        [
            *[grow, read_all, read_all, commit_again, go_back, lose_commit, delete_records, lose_partition, make_anew],
            *[come_and_go, vanish_or_return, fall_silent_or_speak],
        ]
    ),
    st.sampled_from(GROUPS),
    st.sampled_from(PLACES),
    st.integers(1, 5),
)
#: (what happens, ms until the look at groups, whether topics were looked at again, how many looks find the same then)
STORIES = st.lists(
    st.tuples(
        st.lists(HAPPENINGS, max_size=3),
        st.sampled_from([2_000, 2_000, 11_000, 70_000, 0, -3_000, -90_000]),
        st.booleans() | st.just(True),
        st.sampled_from([0, 0, 3, 30, 200]),
    ),
    max_size=8,
)


def looks_of(stage: Stage, story):
    for happenings, passed_ms, is_fresh, repeated in story:
        for happens, name, place, count in happenings:
            happens(stage, name, place, count)
        for again in range(repeated + 1):
            stage.at_ms += 2_000 if again else passed_ms
            stage.ends_at_ms = stage.at_ms - 300 if is_fresh else stage.ends_at_ms
            yield stage.topics()
            stage.commit_views = []


@given(STORIES)
@settings(max_examples=examples(60), deadline=None)
def test_what_rests_has_the_row_that_a_look_at_everything_finds(story):
    stage = Stage()
    watch, whole = (GroupWatch(stage, stage.now_ms, {}) for _ in range(2))
    for topics in looks_of(stage, [([], 2_000, True, 30), *story]):
        others = {name: replace(row) for name, row in topics.items()}
        assert watch.look(topics, stage.ends_at_ms) == whole.look(others, stage.ends_at_ms)
    stage.at_ms += 2_000
    for item in (watch, whole):
        item.look({name: replace(row) for name, row in stage.topics().items()}, stage.at_ms)
    assert (watch._places._ends, watch._places._rings) == (whole._places._ends, whole._places._rings)
    assert watch._histories == whole._histories


def test_a_group_that_has_read_all_keeps_its_row_and_one_that_reads_on_does_not():
    stage = Stage(committed={"audit": {PLACES[0]: 100}, "billing": {PLACES[2]: 100}}, holders=set())
    watch = GroupWatch(stage, stage.now_ms, {})
    before, rows = {}, {}
    for topics in looks_of(stage, [([], 2_000, True, 40), ([(grow, "", PLACES[2], 5)], 2_000, True, 0)]):
        before, rows = rows, watch.look(topics, stage.ends_at_ms)

    assert rows["audit"] is before["audit"]
    assert (rows["billing"].lag, before["billing"].lag) == (5, 0)
