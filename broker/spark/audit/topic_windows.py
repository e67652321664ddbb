"""All that a stream job remembers of one topic's audit, and which rows of the windows follow from what is new. Pure.

Increments are counted by the ledger's own `AuditStory`, and windows are judged by the audit's own `judge`, so that a
row says what `barnabas audit` would. A state stays small: neighbours of one window become one increment, except the
newest of a chain, which a source that was killed may count again; and windows that began before the horizon leave it.
Their rows stay as they were; whoever tells of them later is late.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, cast

import orjson

from broker.audit.increment import NO_RANGE, AuditTier, Chain, Increment
from broker.audit.ledger import AuditState, AuditStory
from broker.audit.states import WindowState
from broker.audit.tally import WINDOW_MS, RecordTally
from broker.audit.verdict import Finding, column, judge
from broker.spark.audit.kept import KeptWindows, added, as_plain, cut, joined, reported_by_window

_FORMAT = 1
#: Increments of a chain that stay apart: as many as a source tells before it commits, and some.
NEWEST_APART = 4
#: A clock may be ahead by so much.
AHEAD_MS = 60_000
_PARTITIONS_NAMED = 100
#: Around the last word of a producer that did not say goodbye.
_WINDOWS_OF_DOUBT = 2

Place = tuple[int, AuditTier, str]


class WindowRow(NamedTuple):
    """`value` None: there is no such window any more."""

    key: str
    value: str | None


class Late(NamedTuple):
    """What is not counted any more, and why."""

    increment: Increment
    reason: str


@dataclass(slots=True)
class TopicWindows:
    """`add`, then `rows`, then `forget`: once in each batch."""

    topic: str
    horizon_ms: int = 0
    window_ms: int = WINDOW_MS
    stories: dict[Chain, AuditStory] = field(default_factory=dict)
    #: Window → its state, as it was last told, and a digest of all that was told.
    verdicts: dict[int, tuple[str, str]] = field(default_factory=dict)
    _touched: set[Place] = field(default_factory=set)
    _concerns_all: bool = False

    def add(self, increment: Increment, now_ms: int) -> Late | None:
        """Add an increment, in the order of the audit topic. Return its late part, if any; duplicates are ignored."""
        if not self.stories:
            self.window_ms = increment.window_ms
        story = self.stories.get(increment.chain, AuditStory())
        if increment.at_ms < self.horizon_ms and increment.epoch not in story.sequences:
            return Late(increment, f"made before {self.horizon_ms}, when nothing else of its epoch is remembered")
        latest = min(increment.at_ms, now_ms) + AHEAD_MS
        counts = cut(increment, lambda window: max(self.horizon_ms, 0) <= window <= latest)
        if self._add(story, counts) and counts is not increment:
            late = cut(increment, lambda window: not max(self.horizon_ms, 0) <= window <= latest)
            return Late(late, f"windows before {self.horizon_ms}, or of the future, or without a time")
        return None

    def _add(self, story: AuditStory, increment: Increment) -> bool:
        kept, doubts = list(_kept(story)), _doubts(story)
        _keep(story, [_read_if_cut(item, increment) for item in kept])
        if not story.add(increment):
            _keep(story, kept)
            return False
        chain = increment.chain
        if chain not in self.stories:
            self._concerns_all = self._concerns_all or column(chain) not in map(column, self.stories)
            self.stories[chain] = story
        self._concerns_all = self._concerns_all or doubts != _doubts(story)
        _keep(
            story,
            [
                increment if isinstance(increment, KeptWindows) else KeptWindows.of(increment)
                for increment in story.increments
            ],
        )
        same = sum(1 for old, new in zip(kept, _kept(story), strict=False) if old is new)
        others = kept[same:] + _kept(story)[same:]
        windows = {window for other in others for window in other.windows if window >= self.horizon_ms}
        self._touched |= {(window, chain.tier, chain.source) for window in windows}
        _fold(story)
        return True

    def rows(self, now_ms: int) -> list[WindowRow]:
        """Return the changed rows: each source's counts in a window, and the verdict."""
        touched, self._touched = self._touched, set()
        windows = {window for window, _, _ in touched} | self._unsettled(now_ms)
        if self._concerns_all:
            windows |= self.verdicts.keys()
        self._concerns_all = False
        seen = self._ledger(windows) if windows else AuditState()
        return [*self._counted(seen, touched), *self._judged(seen, windows, now_ms)]

    def _unsettled(self, now_ms: int) -> set[int]:
        """Return the windows whose verdict may have changed by time or by a client that resumed."""
        states = {window: state for window, (state, _) in self.verdicts.items() if state != WindowState.COMPLETE}
        return {
            window
            for window, state in states.items()
            if state != WindowState.PENDING or self._over_ms(window) <= now_ms
        }

    def _over_ms(self, window: int) -> int:
        """Return when the window's verdict may stop being pending: `judge` waits for a window as long as it was."""
        return window + 2 * self.window_ms

    def due_ms(self, now_ms: int) -> int | None:
        """Return when the next window is due to be judged, even without new increments; None if none is."""
        pending = (window for window, (state, _) in self.verdicts.items() if state == WindowState.PENDING)
        return min((end for end in map(self._over_ms, pending) if end > now_ms), default=None)

    def _ledger(self, windows: set[int]) -> AuditState:
        """Return the state of these windows; each chain reaches as far as it does."""
        ledger = AuditState()
        ledger.window_ms[self.topic] = self.window_ms
        for chain, story in self.stories.items():
            late_increments = [increment for increment in _kept(story) if not windows.isdisjoint(increment.windows)]
            increments = [cut(item.increment(), windows.__contains__) for item in late_increments]
            for at, end in ((0, _kept(story)[:1]), (len(increments), _kept(story)[-1:])):
                if end and end[0] not in late_increments:
                    increments.insert(at and len(increments), _bare(chain, end[0]))
            ledger.stories[chain] = replace(story, increments=increments)
        return ledger

    def _counted(self, ledger: AuditState, touched: set[Place]) -> Iterator[WindowRow]:
        counts: dict[Place, dict[str, Any]] = {}
        partitions: dict[Place, set[int]] = {}
        for chain, story in ledger.stories.items():
            for increment in story.increments:
                for window, tallies in reported_by_window(increment).items():
                    place = (window, chain.tier, chain.source)
                    if place in touched:
                        counts[place] = added(counts[place], tallies) if place in counts else tallies
                        partitions.setdefault(place, set()).add(chain.partition)
        for place in sorted(touched):
            window, tier, source = place
            key = _json([self.topic, window, tier, source])
            yield WindowRow(
                key, self._tally_json(place, counts[place], len(partitions[place])) if place in counts else None
            )

    def _tally_json(self, place: Place, counts: dict[str, Any], partitions: int) -> str:
        window, tier, source = place
        tally = as_plain(counts.pop("windows", RecordTally()))
        head = {"format": _FORMAT, "topic": self.topic, "window": window, "window_ms": self.window_ms}
        return _json({**head, "tier": tier, "source": source, "partitions": partitions, **tally, **as_plain(counts)})

    def _judged(self, ledger: AuditState, windows: set[int], now_ms: int) -> Iterator[WindowRow]:
        verdict = judge(ledger, self.topic, now_ms)
        states = {row.window: row.state for row in verdict.rows}
        for window in sorted(windows):
            key = _json([self.topic, window])
            if window not in states:
                if self.verdicts.pop(window, None):
                    yield WindowRow(key, None)
                continue
            findings = [_plain(finding) for finding in verdict.findings if finding.window == window]
            head = {"format": _FORMAT, "topic": self.topic, "window": window, "window_ms": self.window_ms}
            value = _json({**head, "state": states[window], "findings": findings})
            state_and_digest = str(states[window]), hashlib.sha256(value.encode()).hexdigest()[:16]
            if self.verdicts.get(window) != state_and_digest:
                self.verdicts[window] = state_and_digest
                yield WindowRow(key, value)

    def forget(self, before_ms: int) -> None:
        """Forget windows that begin before `before_ms`, and chains without news since then."""
        self.horizon_ms = max(self.horizon_ms, before_ms)
        self.verdicts = {window: verdict for window, verdict in self.verdicts.items() if window >= self.horizon_ms}
        for chain, story in list(self.stories.items()):
            _trim(story, self.horizon_ms)
            _forget_epochs(story, self.horizon_ms - _WINDOWS_OF_DOUBT * self.window_ms)
            if not story.sequences and not any(increment.windows for increment in story.increments):
                del self.stories[chain]


def _kept(story: AuditStory) -> list[KeptWindows]:
    """Return the story's own list. A `AuditStory` reads only where increments begin and end: `KeptWindows` are one."""
    return cast(list[KeptWindows], story.increments)


def _keep(story: AuditStory, kept: Sequence[KeptWindows | Increment]) -> None:
    story.increments = cast(list[Increment], kept)


def _read_if_cut(kept: KeptWindows, by: Increment) -> KeptWindows | Increment:
    """Return the increment as one that was read if it was truncated: the ledger may know a part of it."""
    if not kept.start < by.start < kept.end:
        return kept
    return kept.increment() if kept.windows else _bare(by.chain, kept)


def _bare(chain: Chain, kept: KeptWindows) -> Increment:
    return Increment(chain, "", 0, 0, start=kept.start, end=kept.end)


def _doubts(story: AuditStory) -> tuple[Any, ...]:
    return story.is_doubtful, story.unheard_until_ms, story.gaps


def _fold(story: AuditStory) -> None:
    """Merge neighbouring increments that end in the same newest window and are not new."""
    kept = _kept(story)
    if kept[-1].start == NO_RANGE and not kept[-1].windows:
        kept.pop()
        return
    at = len(kept) - (1 if kept[-1].start == NO_RANGE else NEWEST_APART + 1)
    if at < 1:
        return
    before, after = kept[at - 1 : at + 1]
    if before.end != after.start or (before.windows and after.windows and before.newest != after.newest):
        return
    kept[at - 1 : at + 1] = [_joined(before, after)]


def _joined(before: KeptWindows, after: KeptWindows) -> KeptWindows:
    if before.windows and after.windows:
        return KeptWindows.of(joined(before.increment(), after.increment()))
    story = before if before.windows else after
    return replace(story, start=before.start, end=after.end)


def _trim(story: AuditStory, before_ms: int) -> None:
    """Drop the counts of windows before `before_ms`, and keep which offsets were covered."""
    kept = _kept(story)
    old = next((at for at, item in enumerate(kept) if item.newest >= before_ms), len(kept))
    if old and kept[0].start != NO_RANGE:
        kept[:old] = [KeptWindows(kept[0].start, kept[old - 1].end, (), "")]
    else:
        del kept[:old]


def _forget_epochs(story: AuditStory, before_ms: int) -> None:
    gone = {epoch for epoch, at_ms in story.heard_ms.items() if at_ms < before_ms}
    for epoch in gone:
        del story.heard_ms[epoch], story.sequences[epoch]
    story.closed -= gone


def _plain(finding: Finding) -> dict[str, Any]:
    fields = asdict(finding)
    del fields["topic"], fields["window"]
    return {**fields, "partitions": fields["partitions"][:_PARTITIONS_NAMED]}


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def written(windows: TopicWindows) -> str:
    """Return the state as text; call after `rows` and `forget`."""
    stories = [
        [
            list(chain), [item.as_list() for item in _kept(story)], story.gaps, story.repeated, story.sequences,
            story.heard_ms, sorted(story.closed), story.is_doubtful, story.unheard_until_ms,
        ]
        for chain, story in windows.stories.items()
    ]  # fmt: skip
    verdicts = [[window, *verdict] for window, verdict in windows.verdicts.items()]
    return _json([_FORMAT, windows.horizon_ms, windows.window_ms, verdicts, stories])


def understood(topic: str, text: str) -> TopicWindows:
    _, horizon_ms, window_ms, verdicts, stories = orjson.loads(text)
    return TopicWindows(
        topic,
        horizon_ms,
        window_ms,
        dict(map(_story, stories)),
        {window: tuple(verdict) for window, *verdict in verdicts},
    )


def _story(listed: list[Any]) -> tuple[Chain, AuditStory]:
    (tier, source, topic, partition), kept, gaps, repeated, sequences, heard_ms, closed, is_doubtful, unheard = listed
    story = AuditStory(
        gaps=[(start, end) for start, end in gaps], repeated=repeated, sequences=sequences, heard_ms=heard_ms,
        closed=set(closed), is_doubtful=is_doubtful, unheard_until_ms=unheard,
    )  # fmt: skip
    _keep(story, [KeptWindows.of_list(item) for item in kept])
    return Chain(AuditTier(tier), source, topic, partition), story


def horizon(heard: Iterable[tuple[int, int]], kept_ms: int) -> int:
    """Return the time before which windows are forgotten. `heard`: partition of the audit topic → when its last
    increment was made.

    Partitions of the audit topic are read in step, but not exactly: the one that is behind counts.
    """
    newest: dict[int, int] = {}
    for partition, at_ms in heard:
        newest[partition] = max(newest.get(partition, 0), at_ms)
    return min(newest.values(), default=0) - kept_ms
