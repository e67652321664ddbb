"""The calls into one group coordinator: each is a turn with its time, and what it answered is parked no more."""

from collections.abc import Callable

from broker.coordinator.group.admission import Admission
from broker.coordinator.group.memory import GroupMemoryAccount
from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorTurn


class GroupTurns:
    _account: GroupMemoryAccount
    _admission: Admission

    def __init__(self, wall_now_ms: Callable[[], int] | None):
        """wall_now_ms: the time to write into records; None for `now_ms`."""
        self._wall_now_ms = wall_now_ms
        self._now_ms = 0  #: the last time we were told
        self._parked: dict[int, str] = {}  #: token: group id, of every request that waits for an answer
        self._under_way: CoordinatorTurn | None = None  #: of the call that lasts, or that raised

    def _turn(self, now_ms: int) -> CoordinatorTurn:
        self._now_ms = max(now_ms, self._now_ms)
        self._account.end_commit()
        self._under_way = CoordinatorTurn(self._now_ms, self._wall_now_ms() if self._wall_now_ms else self._now_ms)
        return self._under_way

    def _end(self, turn: CoordinatorTurn) -> CoordinatorOutcome:
        self._under_way = None
        for answer in turn.outcome.responses:
            self._parked.pop(answer.token, None)
        self._admission.end_turn(turn)
        return turn.outcome
