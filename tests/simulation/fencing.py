"""Whether a producer is refused although nobody else holds its transactional id and its transaction is not overdue.

Of producers whose epoch each end raises (KIP-890, part 2). They know by the epoch of each response how to go on, so
they must never be fenced by their own requests: not by one that is sent again, and not by one that comes late.
"""

from collections.abc import Callable

from broker.common.errors import ErrorCode
from tests.simulation.features import RaisesEverywhere
from tests.simulation.history import History

_REFUSALS = (
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.INVALID_TXN_STATE,
)
#: What coordinators may be early with a timeout.
_SLACK_US = 100_000

#: Whether no wall clock has jumped since then, and all are right.
IsSteadySince = Callable[[int], bool]


class Fencing:
    """Of one producer, which ends its transactions within `timeout_ms` or has them aborted."""

    def __init__(
        self,
        name: str,
        history: History,
        timeout_ms: int,
        now_us: Callable[[], int],
        raises_everywhere: RaisesEverywhere,
        is_steady_since: IsSteadySince,
    ):
        self._name = name
        self._history = history
        self._timeout_us = timeout_ms * 1_000
        self._now_us = now_us
        self._raises_everywhere = raises_everywhere
        self._is_steady_since = is_steady_since
        self._began_us: int | None = None
        self._may_fence_itself = False

    def begin(self) -> None:
        """A transaction begins under the protocol that raises epochs."""
        self._began_us = self._now_us() if self._raises_everywhere() else None

    def end(self) -> None:
        self._began_us = None

    def lose_initialisation(self) -> None:
        """An InitProducerId has no response: whenever it is served it fences its own producer."""
        self._may_fence_itself = True

    def judge(self, code: int | None, what: str) -> None:
        """The producer hears `code` while its transaction is under way, or ends."""
        began_us = self._began_us
        if code not in _REFUSALS or began_us is None or self._may_fence_itself:
            return
        is_overdue = self._now_us() - began_us > self._timeout_us - _SLACK_US
        if not is_overdue and self._is_steady_since(began_us):
            name = ErrorCode(code).name
            self._history.violate(f"{self._name} hears {what} refused: {name}, though it alone holds its id")
