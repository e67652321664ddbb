"""What groups have gone over, window by window: their committed offsets laid over what the log holds. Pure.

That a group committed an offset says that it has gone on, not what it did with the records. A group is judged from
where it was first heard of. One that commits nothing any more is not waited for: that a group stands still has alerts
of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from broker.audit.increment import Chain
from broker.audit.ledger import AuditState, AuditStory
from broker.audit.path import GroupPath
from broker.audit.states import WindowState
from broker.audit.tally import RecordTally

#: Of windows: a group that has committed nothing for so long is not waited for.
QUIET_WINDOWS = 10


@dataclass(frozen=True, slots=True)
class GroupMove:
    """Offsets from `start` to `end` (exclusive) that a group read again, or skipped by a reset of a client that is no
    member.
    """

    topic: str
    group: str
    partition: int
    is_back: bool
    start: int
    end: int
    at_ms: int


class AuditedGroups:
    """Audited groups of one topic. `stories`: of the log, by partition."""

    def __init__(self, ledger: AuditState, topic: str, stories: Mapping[int, AuditStory], quiet_before_ms: int):
        self._stories = stories
        self._quiet_before_ms = quiet_before_ms
        self._paths: dict[str, dict[int, GroupPath]] = {}
        for chain, path in ledger.paths.items():
            if chain.topic == topic:
                self._paths.setdefault(column_of(chain), {})[chain.partition] = path
        self.moves = tuple(sorted(_moves(ledger, topic), key=lambda move: move.at_ms))

    def cells(self, window: int, appended: Mapping[int, RecordTally]) -> dict[str, tuple[WindowState, RecordTally]]:
        """Return the state by column of the groups that take part; `appended`: what each partition holds of the
        window.
        """
        cells = {name: self._cell(window, paths, appended) for name, paths in self._paths.items()}
        return {name: cell for name, cell in cells.items() if cell is not None}

    def _cell(
        self, window: int, paths: Mapping[int, GroupPath], appended: Mapping[int, RecordTally]
    ) -> tuple[WindowState, RecordTally] | None:
        total, states = RecordTally(), []
        for index, tally in appended.items():
            path = paths.get(index)
            if path is None or tally.first_offset < path.start:
                continue
            if path.covers(tally.first_offset, tally.last_offset + 1):
                total += RecordTally(tally.count, tally.bytes, 0, tally.first_offset, tally.last_offset)
                states.append(WindowState.COMPLETE)
                continue
            total += self._gone_over(window, index, path)
            if path.has_skipped(tally.first_offset, tally.last_offset):
                states.append(WindowState.SKIPPED)
            elif path.heard_ms >= self._quiet_before_ms:
                states.append(WindowState.PENDING)
            else:
                states.append(WindowState.COMPLETE)
        return (max(states, key=tuple(WindowState).index), total) if states else None

    def _gone_over(self, window: int, index: int, path: GroupPath) -> RecordTally:
        """Return the least that was covered: a range reported as one counts only if all of it was."""
        parts = (increment for increment in self._stories[index].increments if window in increment.windows)
        return sum((part.windows[window] for part in parts if path.covers(part.start, part.end)), start=RecordTally())


def column_of(chain: Chain) -> str:
    return f"{chain.tier} {chain.source}"


def _moves(ledger: AuditState, topic: str) -> list[GroupMove]:
    return [
        GroupMove(topic, chain.source, chain.partition, is_back, move.start, move.end, move.at_ms)
        for chain, path in ledger.paths.items()
        if chain.topic == topic
        for is_back, moves in ((True, path.back), (False, path.skipped))
        for move in moves
    ]
