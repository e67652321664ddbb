"""Which windows are complete, and what is missing or there twice, where: a pure function of a ledger and the time.

Two neighbouring tiers are compared window by window and partition by partition, and only where both have told all they
will tell. What that is, offsets say: the lower tier must have covered every offset the upper one counted. So a counter
or a consumer that lags, or was killed, leads to PENDING or UNKNOWN and never to a false loss. What a producer counted
is a lower bound while it has not closed its epoch: a loss found by it is sure, a surplus only beyond `grace_ms` around
its last word, and beyond the records it was never told the end of. Records that a producer without the hook wrote look
like duplicates: all who write a topic take part, or none. Transactions count when they are committed; a group that
reads uncommitted ones has more than was appended. A mirror or a sink that takes part is compared by the offsets of the
source as a group is; what it has put aside on purpose (dead letters, what a transform filters, what came from the
other cluster) counts with the rest in the comparison, and is shown beside it.

What brokers count as they append has no checksums: it is compared by numbers (`by_header`), stands above the counter
that reads the log where there are both, and in its place where there is none. Groups are judged by what they committed
(`groups`): they may lag and may have been set past something, and lose nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from broker.audit.by_header import WindowDifference, neighbourhood, unexplained
from broker.audit.groups import QUIET_WINDOWS, AuditedGroups, GroupMove
from broker.audit.increment import BROKER, AuditTier, Chain, Increment
from broker.audit.ledger import AuditState, AuditStory
from broker.audit.states import TROUBLES, WindowState
from broker.audit.tally import NO_WINDOW, RecordTally

#: Alike from which tier: by which name a column of the matrix goes.
APPENDED = str(AuditTier.APPENDED)
PRODUCED = str(AuditTier.PRODUCED)
#: What brokers count of what they append.
BROKERS = f"{AuditTier.APPENDED} {BROKER}"
_WORST = tuple(WindowState)


@dataclass(frozen=True, slots=True)
class Finding:
    """`count` records of a window are missing (or too many, or others) at `tier`, compared with `above`."""

    topic: str
    window: int
    above: str
    tier: str
    state: WindowState
    count: int
    partitions: tuple[int, ...]
    first_offset: int
    last_offset: int


@dataclass(slots=True)
class AuditWindow:
    """One window of a topic: its state, and what each tier counted."""

    window: int
    state: WindowState = WindowState.COMPLETE
    tiers: dict[str, RecordTally] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """Audit verdict of one topic. `complete_until` is the end in ms of the last window before the first that is not
    complete.
    """

    topic: str
    window_ms: int
    rows: tuple[AuditWindow, ...]
    findings: tuple[Finding, ...]
    complete_until: int | None
    #: Windows that should be complete by now and only wait for a tier that lags.
    late: tuple[int, ...]
    #: Where groups went back or were set forward, the oldest first.
    moves: tuple[GroupMove, ...] = ()


def judge(ledger: AuditState, topic: str, now_ms: int, grace_ms: int | None = None) -> AuditVerdict:
    """Return the verdict. `grace_ms`, one window by default, is how long after its end a window is waited for."""
    return _Judging(ledger, topic, now_ms, grace_ms).verdict()


def column(chain: Chain) -> str:
    """Return a tier's column name: each group, mirror and sink has its own, and brokers share one."""
    if (chain.tier, chain.source) == (AuditTier.APPENDED, BROKER):
        return BROKERS
    return str(chain.tier) if chain.tier in (AuditTier.PRODUCED, AuditTier.APPENDED) else f"{chain.tier} {chain.source}"


class _Judging:
    def __init__(self, ledger: AuditState, topic: str, now_ms: int, grace_ms: int | None):
        self._topic = topic
        self._window_ms = ledger.window_of(topic)
        self._now_ms = now_ms
        self._grace_ms = self._window_ms if grace_ms is None else grace_ms
        self._stories: dict[str, dict[int, list[AuditStory]]] = defaultdict(lambda: defaultdict(list))
        for chain, story in ledger.stories.items():
            if chain.topic == topic:
                self._stories[column(chain)][chain.partition].append(story)
        self._tallies = {name: _by_window(stories, Increment.whole) for name, stories in self._stories.items()}
        self._shown = {
            f"{name}{': ' if kind else ''}{kind}": _by_window(stories, part)
            for name, stories in self._stories.items()
            for kind, part in _parts(stories).items()
        }
        self._producers = _Producers(ledger.of(topic, AuditTier.PRODUCED).values(), self._grace_ms)
        self._first = {
            name: {index: sums[0] for index, sums in stories.items()} for name, stories in self._stories.items()
        }
        #: What the partitions hold, as far as anybody tells.
        self._log = BROKERS if BROKERS in self._stories else APPENDED
        quiet_before_ms = now_ms - QUIET_WINDOWS * self._window_ms
        self._groups = AuditedGroups(ledger, topic, self._first.get(self._log, {}), quiet_before_ms)
        self._differences: dict[tuple[str, str, int], dict[int, WindowDifference]] = {}
        self._findings: list[Finding] = []

    def verdict(self) -> AuditVerdict:
        windows = sorted({window for by_window in self._tallies.values() for window in by_window})
        rows = tuple(self._row(window) for window in windows)
        late = [row.window for row in rows if row.state is WindowState.PENDING and self._is_over(row.window)]
        until = self._complete_until(rows)
        findings, moves = tuple(self._findings), self._groups.moves
        return AuditVerdict(self._topic, self._window_ms, rows, findings, until, tuple(late), moves)

    def _is_over(self, window: int) -> bool:
        return window + self._window_ms + self._grace_ms <= self._now_ms

    def _complete_until(self, rows: Iterable[AuditWindow]) -> int | None:
        """Return until when windows are complete; leading ones that began before the audit are skipped."""
        until = None
        for row in rows:
            if row.window == NO_WINDOW or (row.state is WindowState.UNKNOWN and until is None):
                continue
            if row.state not in (WindowState.COMPLETE, WindowState.SKIPPED):
                break
            until = row.window + self._window_ms
        return until

    def _row(self, window: int) -> AuditWindow:
        row = AuditWindow(window)
        for name, by_window in sorted(self._shown.items(), key=lambda item: _place(item[0])):
            row.tiers[name] = sum(by_window.get(window, {}).values(), start=RecordTally())
        groups = self._groups.cells(window, self._tallies.get(self._log, {}).get(window, {}))
        row.tiers |= {name: tally for name, (_, tally) in groups.items()}
        if not self._is_over(window):
            row.state = WindowState.PENDING
            return row
        states = [*self._compared(window), *(state for state, _ in groups.values())]
        row.state = max(states, key=_WORST.index, default=WindowState.UNKNOWN)
        return row

    def _compared(self, window: int) -> Iterator[WindowState]:
        """Yield the state of each pair of neighbouring tiers, from the top down; nothing where no broker has counted
        the log.
        """
        log, states = self._log, []
        if log not in self._stories:
            return
        if PRODUCED in self._stories and self._takes_part(PRODUCED, window):
            states.append(self._pair(window, PRODUCED, log))
        if log == BROKERS and APPENDED in self._stories:
            read = self._pair(window, BROKERS, APPENDED)
            if read is not WindowState.UNKNOWN:
                # As many is not the same: that only the counter's checksums tell.
                log = APPENDED
                states.append(read)
                if states != [read] and TROUBLES.isdisjoint(states):
                    states.append(self._pair(window, PRODUCED, APPENDED))
        yield from states
        for name in sorted(self._stories):
            if name not in (PRODUCED, APPENDED, BROKERS):
                yield self._pair(window, log, name)

    def _takes_part(self, above: str, window: int) -> bool:
        return above != PRODUCED or window in self._tallies[PRODUCED]

    def _pair(self, window: int, above: str, below: str) -> WindowState:
        upper, lower = (self._tallies.get(name, {}).get(window, {}) for name in (above, below))
        by_state: dict[WindowState, list[tuple[int, RecordTally, RecordTally]]] = defaultdict(list)
        for index in sorted({*upper, *lower}):
            tallies = upper.get(index, RecordTally()), lower.get(index, RecordTally())
            state = self._known(above, below, index, *tallies) or self._compare(above, below, window, *tallies)
            if BROKERS in (above, below) and state in (WindowState.MISSING, WindowState.DUPLICATE):
                state = self._unless_exchanged(state, window, above, below, index)
            by_state[state].append((index, *tallies))
        self._findings += [
            _finding(self._topic, window, above, below, state, by_state[state])
            for state in by_state
            if state in TROUBLES
        ]
        return max(by_state, key=_WORST.index, default=WindowState.COMPLETE)

    def _known(self, above: str, below: str, index: int, upper: RecordTally, lower: RecordTally) -> WindowState | None:
        """Return None when both tiers have counted all of these records, otherwise why they cannot be compared."""
        checks = [(self._first.get(below, {}).get(index), upper)]
        if above != PRODUCED:
            checks.append((self._first.get(above, {}).get(index), lower))
        for story, tally in checks:
            if not tally.count:
                continue
            if story is None or story.end <= tally.last_offset:
                return WindowState.PENDING
            if story.is_doubtful or not story.knows(tally.first_offset, tally.last_offset):
                return WindowState.UNKNOWN
        return None

    def _compare(self, above: str, below: str, window: int, upper: RecordTally, lower: RecordTally) -> WindowState:
        has_more = above == PRODUCED and self._producers.may_have_more(window, window + self._window_ms)
        if lower.count < upper.count:
            return WindowState.MISSING
        if lower.count > upper.count:
            return (
                WindowState.UNKNOWN if has_more or lower.count - upper.count <= upper.unsure else WindowState.DUPLICATE
            )
        is_comparable = BROKERS not in (above, below)
        if is_comparable and (lower.checksum, lower.bytes) != (upper.checksum, upper.bytes):
            return WindowState.UNKNOWN if has_more or upper.unsure else WindowState.MISMATCH
        return WindowState.REORDERED if upper.disordered or lower.disordered else WindowState.COMPLETE

    def _unless_exchanged(self, state: WindowState, window: int, above: str, below: str, index: int) -> WindowState:
        """Return `state`, or a weaker one where headers of batches may name another window than the records."""
        differences = self._differences_of(above, below, index)
        for other in neighbourhood(window, differences) - {window}:
            if not self._is_over(other):
                return WindowState.PENDING
            tallies = [self._tallies[name].get(other, {}).get(index, RecordTally()) for name in (above, below)]
            if (known := self._known(above, below, index, *tallies)) is not None:
                return known
        return state if unexplained(window, differences) else WindowState.COMPLETE

    def _differences_of(self, above: str, below: str, index: int) -> dict[int, WindowDifference]:
        difference = self._differences.get((above, below, index))
        if difference is None:
            upper, lower = self._tallies.get(above, {}), self._tallies.get(below, {})
            difference = self._differences[above, below, index] = {
                window: WindowDifference.between(
                    upper.get(window, {}).get(index, RecordTally()), lower.get(window, {}).get(index, RecordTally())
                )
                for window in {*upper, *lower}
                if index in upper.get(window, {}) or index in lower.get(window, {})
            }
        return difference


class _Producers:
    """A topic's producers: around which moments one may have produced more than it could report."""

    def __init__(self, stories: Iterable[AuditStory], grace_ms: int):
        self._is_doubtful = False
        self._unheard_until_ms = 0
        self._ends: list[tuple[int, int]] = []
        heard: dict[str, int] = {}
        open_: set[str] = set()
        for story in stories:
            self._is_doubtful |= story.is_doubtful
            self._unheard_until_ms = max(self._unheard_until_ms, story.unheard_until_ms)
            open_ |= story.sequences.keys() - story.closed
            for epoch, at_ms in story.heard_ms.items():
                heard[epoch] = max(heard.get(epoch, 0), at_ms)
        self._ends = [(heard[epoch] - grace_ms, heard[epoch] + grace_ms) for epoch in open_]

    def may_have_more(self, start_ms: int, end_ms: int) -> bool:
        if self._is_doubtful or start_ms < self._unheard_until_ms:
            return True
        return any(start < end_ms and start_ms < end for start, end in self._ends)


_Part = Callable[[Increment], Iterable[tuple[int, RecordTally]]]


def _parts(stories: Mapping[int, Iterable[AuditStory]]) -> dict[str, _Part]:
    """Return the counts of a tier, under an empty name, and those it set aside, by kind."""
    kinds = {
        kind
        for sums in stories.values()
        for story in sums
        for increment in story.increments
        for kind in increment.aside
    }
    asides = {kind: lambda value, kind=kind: value.aside.get(kind, {}).items() for kind in sorted(kinds)}
    return {"": lambda increment: increment.windows.items(), **asides}


def _by_window(stories: Mapping[int, Iterable[AuditStory]], part: _Part) -> dict[int, dict[int, RecordTally]]:
    """Window → partition → what was counted."""
    tallies: dict[int, dict[int, RecordTally]] = defaultdict(dict)
    for index, sums in stories.items():
        for increment in (increment for story in sums for increment in story.increments):
            for window, tally in part(increment):
                tallies[window][index] = tallies[window].get(index, RecordTally()) + tally
    return tallies


def _place(name: str) -> tuple[int, str]:
    return ({PRODUCED: 0, BROKERS: 1, APPENDED: 2}.get(name, 3), name)


def _finding(
    topic: str,
    window: int,
    above: str,
    below: str,
    state: WindowState,
    where: list[tuple[int, RecordTally, RecordTally]],
) -> Finding:
    both = sum((tally for _, *pair in where for tally in pair), start=RecordTally())
    if state is WindowState.REORDERED:
        count = both.disordered
    elif state is WindowState.MISMATCH:
        count = sum(upper.count for _, upper, _ in where)
    else:
        count = sum(abs(upper.count - lower.count) for _, upper, lower in where)
    partitions = tuple(index for index, *_ in where)
    return Finding(topic, window, above, below, state, count, partitions, both.first_offset, both.last_offset)
