"""Increments of all tiers, collected: each counts once, however often and in whichever order epochs are read.

Within an epoch of a chain sequences go up by one; what was seen is dropped, what is left out makes the source
*doubtful*: it counted more than is known here. An epoch that is first heard of in its middle, because the topic has
forgotten its beginning, is in doubt only of the time before: ranges begin where they begin, and of a chain without
ranges `unheard_until_ms` says when. Ranges of a chain that covers offsets follow one another. One that begins further
back replaces what it covers again; one that cuts into another, or begins further on, leaves a *gap*: offsets of which
nothing is known. A leader that has been replaced, and does not know it yet, tells what its successor has counted again:
it is of an earlier *term*, and is not heard.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from broker.audit.increment import NO_RANGE, NO_TERM, AuditTier, Chain, Increment
from broker.audit.path import GroupPath
from broker.audit.tally import WINDOW_MS, RecordTally

#: A chain with more gaps than these keeps one over all of them.
_GAPS_MAX = 100


@dataclass(slots=True)
class AuditStory:
    """All that one chain has told."""

    increments: list[Increment] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    #: Offsets that were counted again, because who counted them had not committed, or went back.
    repeated: int = 0
    #: What the newest increment has replaced, whole or from its start on.
    undone: list[Increment] = field(default_factory=list)
    sequences: dict[str, int] = field(default_factory=dict)
    #: By epoch, of the newest increment: when it was made.
    heard_ms: dict[str, int] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    is_doubtful: bool = False
    #: The latest leader epoch in which a broker has counted it.
    term: int = NO_TERM
    #: Of a chain without ranges: until then it may have counted what is not known here.
    unheard_until_ms: int = 0

    @property
    def start(self) -> int:
        return self.increments[0].start if self.increments else NO_RANGE

    @property
    def end(self) -> int:
        """The offset after all that is covered."""
        return self.increments[-1].end if self.increments else NO_RANGE

    def add(self, increment: Increment) -> bool:
        last = self.sequences.get(increment.epoch)
        if increment.term < self.term or (last is not None and increment.sequence <= last):
            return False
        self.term = increment.term
        if last is not None:
            self.is_doubtful = self.is_doubtful or increment.sequence > last + 1
        elif increment.sequence > 0 and increment.start == NO_RANGE:
            self.unheard_until_ms = max(self.unheard_until_ms, increment.at_ms)
        self.sequences[increment.epoch] = increment.sequence
        self.heard_ms[increment.epoch] = increment.at_ms
        if increment.is_last:
            self.closed.add(increment.epoch)
        self.undone = []
        if increment.start != NO_RANGE:
            self._rewind(increment)
        self.increments.append(increment)
        return True

    def _rewind(self, new: Increment) -> None:
        end = self.end
        self.gaps = [(start, min(stop, new.start)) for start, stop in self.gaps if start < new.start]
        while self.increments and self.increments[-1].start >= new.start:
            self.undone.append(self.increments.pop())
        if not self.increments:
            return
        last = self.increments[-1]
        if last.end > new.start:
            self.undone.append(self.increments.pop())
            kept = before(last, new.start)
            if kept is not None:
                self.increments.append(kept)
            self._note_gap(last.start if kept is None else kept.end, new.start)
        elif last.end < new.start:
            self._note_gap(last.end, new.start)
        self.repeated += max(0, end - new.start)

    def _note_gap(self, start: int, end: int) -> None:
        self.gaps.append((start, end))
        if len(self.gaps) > _GAPS_MAX:
            self.gaps = [(min(start for start, _ in self.gaps), max(end for _, end in self.gaps))]

    @property
    def size(self) -> int:
        """Tallies that are held."""
        return sum(len(increment.windows) + sum(map(len, increment.aside.values())) for increment in self.increments)

    def fold(self, before_ms: int, span_ms: int) -> None:
        """Merge successive increments made before `before_ms` into one for each `span_ms`."""
        folded: list[Increment] = []
        for increment in self.increments:
            last = folded[-1] if folded else None
            if (
                last is not None
                and increment.at_ms < before_ms
                and last.at_ms // span_ms == increment.at_ms // span_ms
                and last.end == increment.start
            ):
                folded[-1] = joined(last, increment)
            else:
                folded.append(increment)
        self.increments = folded

    def forget(self, before_ms: int) -> None:
        """Drop increments from the front; the offsets that stay covered remain contiguous."""
        kept = (
            number
            for number, increment in enumerate(self.increments)
            if max((window for window, _ in increment.whole()), default=0) >= before_ms
        )
        del self.increments[: next(kept, len(self.increments))]

    def knows(self, first: int, last: int) -> bool:
        """Return whether all offsets from `first` to `last` are covered."""
        has_gap = any(start <= last and first < end for start, end in self.gaps)
        return self.increments != [] and self.start <= first and last < self.end and not has_gap

    def tally(self, window: int) -> RecordTally:
        return sum(
            (increment.windows[window] for increment in self.increments if window in increment.windows),
            start=RecordTally(),
        )

    def windows(self) -> set[int]:
        return {window for increment in self.increments for window in increment.windows}


def joined(first: Increment, second: Increment) -> Increment:
    """Return both increments as one, without latencies, which no verdict needs."""
    aside = {
        kind: _sum(first.aside.get(kind, {}), second.aside.get(kind, {})) for kind in first.aside.keys() | second.aside
    }
    windows = _sum(first.windows, second.windows)
    return replace(second, windows=windows, aside=aside, start=first.start, latencies={})


def _sum(first: Mapping[int, RecordTally], second: Mapping[int, RecordTally]) -> dict[int, RecordTally]:
    return {
        window: first.get(window, RecordTally()) + second.get(window, RecordTally())
        for window in first.keys() | second.keys()
    }


def before(increment: Increment, offset: int) -> Increment | None:
    """Return the part of the increment that is certainly about offsets before `offset`: windows that end before all
    others begin.
    """
    end = offset
    while True:
        reaching = [tally for _, tally in increment.whole() if tally.count and tally.last_offset >= end]
        further = min((tally.first_offset for tally in reaching), default=end)
        if further >= end:
            break
        end = further
    if end <= increment.start:
        return None
    aside = {kind: _ending(windows, end) for kind, windows in increment.aside.items()}
    return replace(increment, windows=_ending(increment.windows, end), aside=aside, end=end, latencies={})


def _ending(windows: Mapping[int, RecordTally], end: int) -> dict[int, RecordTally]:
    return {window: tally for window, tally in windows.items() if tally.last_offset < end}


class AuditState:
    """`add` what the audit topic holds, in its order. As large as what the topic retains."""

    def __init__(self) -> None:
        self.stories: dict[Chain, AuditStory] = {}
        #: Of groups, by what they committed.
        self.paths: dict[Chain, GroupPath] = {}
        self.repeats = 0  #: increments that were read twice
        self.window_ms: dict[str, int] = {}

    def add(self, increment: Increment) -> bool:
        """Return whether it was new."""
        if increment.chain.tier is AuditTier.COMMITTED:
            return self._add_steps(increment)
        story = self.stories.setdefault(increment.chain, AuditStory())
        self.window_ms.setdefault(increment.chain.topic, increment.window_ms)
        is_new = story.add(increment)
        self.repeats += not is_new
        return is_new

    def _add_steps(self, increment: Increment) -> bool:
        is_new = self.paths.setdefault(increment.chain, GroupPath()).add(increment)
        self.repeats += not is_new
        return is_new

    @property
    def size(self) -> int:
        """Tallies that are held, some 300 bytes each."""
        return sum(story.size for story in self.stories.values()) + len(self.paths)

    def fold(self, before_ms: int, span_ms: int) -> None:
        """Merge older increments into one, without losing counts.

        A replacement inside the merged part can no longer be located exactly.
        """
        for story in self.stories.values():
            story.fold(before_ms, span_ms)

    def window_of(self, topic: str) -> int:
        """Return the length of the topic's windows, in ms."""
        return self.window_ms.get(topic, WINDOW_MS)

    def forget(self, before_ms: int) -> None:
        """Forget the counts of windows that begin before `before_ms`; an increment that also covers later windows stays
        whole. A chain without any later increment is forgotten itself and begins anew when it reports again.
        """
        for chain, story in list(self.stories.items()):
            story.forget(before_ms)
            if not story.increments and max(story.heard_ms.values(), default=0) < before_ms:
                del self.stories[chain]
        for chain, path in list(self.paths.items()):
            path.forget(before_ms)
            if path.heard_ms < before_ms:
                del self.paths[chain]

    def topics(self) -> list[str]:
        return sorted({chain.topic for chain in (*self.stories, *self.paths)})

    def of(self, topic: str, tier: AuditTier) -> dict[Chain, AuditStory]:
        return {chain: story for chain, story in self.stories.items() if (chain.topic, chain.tier) == (topic, tier)}
