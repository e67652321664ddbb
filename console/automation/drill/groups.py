"""What consumer groups came to while a drill was under way: who fell behind, and who shared partitions anew. Pure.

Before the fault each is looked at for a while; the worst it was then is what it is compared with, so that a group that
reads in bursts is no victim. What is kept of each is small and does not grow with the looks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from console.automation.drill.samples import LOOK_S
from console.cluster.placement.sentences import count_of
from console.kit.common.figures import grouped
from console.kit.common.stored_fields import from_stored

#: Groups that are watched; the others are counted.
WATCHED_MAX = 500
#: Nobody fell behind whose oldest unread record has waited for no longer than this beyond what it did before.
_LATER_MS = 2 * LOOK_S * 1_000
#: Words of a group that shares its partitions, in both of Kafka's protocols.
_SHARING = ("rebalanc", "assigning", "reconciling")


@dataclass(frozen=True, slots=True)
class GroupLook:
    """A group at a moment. `members`: stands for who they are, and how many partitions each of them holds.

    `since_ms`: when the oldest record that waits was appended, None: none waits, or nobody knows.
    """

    name: str
    lag: int
    since_ms: int | None
    state: str
    coordinator: int
    members: int
    is_silent: bool = False

    def behind_ms(self, at_ms: int) -> int:
        return 0 if self.since_ms is None else max(0, at_ms - self.since_ms)

    @property
    def is_sharing(self) -> bool:
        return any(word in self.state.lower() for word in _SHARING)


@dataclass(frozen=True, slots=True)
class GroupStory:
    """`lag`, `behind_ms`: the worst of before; `peak_…` the worst since; `late_ms`: how long it was worse in all.

    `shared`: how often it was seen sharing its partitions anew. `coordinator`: the newest; `moved`: it was another.

    `is_stuck`: the record at `since_ms` waited all the time before, so that nobody can say what it waits for.
    """

    lag: int
    behind_ms: int
    members: int
    coordinator: int
    since_ms: int | None = None
    is_stuck: bool = False
    peak_lag: int = 0
    peak_behind_ms: int = 0
    late_ms: int = 0
    is_late: bool = False
    is_sharing: bool = False
    shared: int = 0
    moved: bool = False
    silent_ms: int = 0

    @property
    def fell_behind(self) -> bool:
        return self.late_ms > 0 or self.is_late

    @property
    def rebalanced(self) -> bool:
        return self.shared > 0

    @property
    def did_nothing(self) -> bool:
        return not (self.fell_behind or self.rebalanced or self.moved or self.silent_ms)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


Stories = Mapping[str, GroupStory]


def read_stories(kept: Mapping[str, Mapping[str, Any]]) -> dict[str, GroupStory]:
    return {name: from_stored(GroupStory, item) for name, item in kept.items()}


def looked_on(stories: Stories, looks: Iterable[GroupLook], at_ms: int) -> dict[str, GroupStory]:
    """Add looks before the fault: the worst of what is ordinary."""
    group_stories = dict(stories)
    for look in looks:
        known = group_stories.get(look.name)
        if known is not None or len(group_stories) < WATCHED_MAX:
            group_stories[look.name] = _ordinary(known, look, at_ms)
    return group_stories


def _ordinary(known: GroupStory | None, look: GroupLook, at_ms: int) -> GroupStory:
    is_stuck = look.since_ms is not None and (known is None or (known.is_stuck and known.since_ms == look.since_ms))
    return GroupStory(
        lag=max(look.lag, known.lag if known else 0),
        behind_ms=max(look.behind_ms(at_ms), known.behind_ms if known else 0),
        members=look.members,
        coordinator=look.coordinator,
        since_ms=look.since_ms,
        is_stuck=is_stuck,
    )


def went_on(stories: Stories, looks: Iterable[GroupLook], at_ms: int, passed_ms: int) -> dict[str, GroupStory]:
    """Add looks since the fault, `passed_ms` after the last. Groups that are new since then are not affected."""
    seen = {look.name: look for look in looks}
    return {
        name: _next(story, seen[name], at_ms, passed_ms) if name in seen else story for name, story in stories.items()
    }


def _next(story: GroupStory, look: GroupLook, at_ms: int, passed_ms: int) -> GroupStory:
    if look.is_silent:
        return replace(story, silent_ms=story.silent_ms + passed_ms)
    behind_ms = look.behind_ms(at_ms)
    is_late = not story.is_stuck and look.lag > story.lag and behind_ms > story.behind_ms + _LATER_MS
    is_sharing = look.is_sharing or look.members != story.members
    return replace(
        story,
        members=look.members,
        coordinator=look.coordinator,
        peak_lag=max(story.peak_lag, look.lag) if is_late else story.peak_lag,
        peak_behind_ms=max(story.peak_behind_ms, behind_ms) if is_late else story.peak_behind_ms,
        late_ms=story.late_ms + (passed_ms if story.is_late else 0),
        is_late=is_late,
        is_sharing=is_sharing,
        shared=story.shared + (is_sharing and not story.is_sharing),
        moved=story.moved or look.coordinator != story.coordinator,
    )


@dataclass(frozen=True, slots=True)
class GroupLine:
    """One group of the report."""

    name: str
    late: str
    shared: str
    also: str
    is_still_late: bool

    @property
    def sentence(self) -> str:
        groups = (("fell behind: ", self.late), ("rebalanced ", self.shared), ("", self.also))
        return "; ".join(f"{words}{part}" for words, part in groups if part)


def affected(stories: Stories) -> list[GroupLine]:
    """Return the affected groups, the worst first."""
    busy = [(name, item) for name, item in stories.items() if not item.did_nothing]
    busy.sort(key=lambda pair: (-pair[1].late_ms, -pair[1].shared, pair[0]))
    return [GroupLine(name, _late(item), _shared(item), _also(item), item.is_late) for name, item in busy]


def summary(stories: Stories, unwatched: int) -> str:
    behind = sum(story.fell_behind for story in stories.values())
    shared = sum(story.rebalanced for story in stories.values())
    quiet = sum(story.did_nothing for story in stories.values())
    moved = sum(story.moved for story in stories.values())
    parts = [(behind, "fell behind"), (shared, "rebalanced"), (moved, "with another coordinator"), (quiet, "as before")]
    rest = [(unwatched, "not watched")] if unwatched else []
    return ", ".join(f"{grouped(number)} {words}" for number, words in parts + rest)


def _late(story: GroupStory) -> str:
    if not story.fell_behind:
        return ""
    more = count_of(story.peak_lag - story.lag, "record")
    text = f"{more} more than before, the oldest {story.peak_behind_ms / 1_000:.0f} s old"
    return f"{text}, for {story.late_ms / 1_000:.0f} s{' and still' if story.is_late else ''}"


def _shared(story: GroupStory) -> str:
    return "" if not story.shared else "once" if story.shared == 1 else f"{story.shared} times"


def _also(story: GroupStory) -> str:
    parts = (
        *((f"broker {story.coordinator} coordinates it now",) if story.moved else ()),
        *((f"no report of it for {story.silent_ms / 1_000:.0f} s",) if story.silent_ms else ()),
    )
    return ", ".join(parts)
