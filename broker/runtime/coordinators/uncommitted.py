"""What a coordinator has decided and its log has not committed yet: answers that wait, for a time, and what is to be
done afterwards however long that takes."""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from broker.coordinator.outcome import CoordinatorOutcome, CoordinatorResponse

Proposed = TypeVar("Proposed", bound=CoordinatorOutcome)


class _PendingResponse(NamedTuple):
    end_offset: int
    deadline_ms: int
    answer: CoordinatorResponse


class Uncommitted(Generic[Proposed]):
    """In the order of the log, and of the deadlines: every answer of a shard may wait equally long."""

    def __init__(self) -> None:
        self._answers: OrderedDict[int, _PendingResponse] = OrderedDict()  #: by token
        self._outcomes: deque[tuple[int, Proposed]] = deque()

    def __len__(self) -> int:
        return len(self._answers) + len(self._outcomes)

    def add_answer(self, end_offset: int, deadline_ms: int, answer: CoordinatorResponse) -> None:
        """Add an answer, due when the log is committed up to `end_offset`, and in some form at its deadline."""
        self._answers[answer.token] = _PendingResponse(end_offset, deadline_ms, answer)

    def add_outcome(self, end_offset: int, outcome: Proposed) -> None:
        self._outcomes.append((end_offset, outcome))

    def forget(self, token: int) -> None:
        """Forget an answer that is no longer awaited."""
        self._answers.pop(token, None)

    def take_answers(self, high_watermark: int) -> Iterator[CoordinatorResponse]:
        while self._answers and self._first.end_offset <= high_watermark:
            yield self._answers.popitem(last=False)[1].answer

    def take_overdue(self, now_ms: int) -> Iterator[CoordinatorResponse]:
        while self._answers and self._first.deadline_ms <= now_ms:
            yield self._answers.popitem(last=False)[1].answer

    def take_all_answers(self) -> Iterator[CoordinatorResponse]:
        while self._answers:
            yield self._answers.popitem(last=False)[1].answer

    def take_outcomes(self, high_watermark: int) -> Iterator[Proposed]:
        while self._outcomes and self._outcomes[0][0] <= high_watermark:
            yield self._outcomes.popleft()[1]

    @property
    def next_deadline_ms(self) -> int | None:
        return self._first.deadline_ms if self._answers else None

    @property
    def _first(self) -> _PendingResponse:
        return next(iter(self._answers.values()))
