"""Questions about very many partitions are put to the controller a part at a time: it works on each in one go."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from broker.common.errors import InvariantViolation
from broker.common.limits import PARTITIONS_ASKED_AT_ONCE
from broker.common.types import TopicPartition
from broker.controller.events import ControllerEvent
from broker.controller.verdict import PartitionVerdict, ShutdownAnswer
from broker.runtime.requests.context import RequestContext

Asked = TypeVar("Asked")


async def ask_in_parts(
    requested: Sequence[Asked],
    event_of: Callable[[int, list[Asked]], ControllerEvent],
    timeout_ms: int,
    context: RequestContext,
) -> dict[TopicPartition, PartitionVerdict]:
    """Return the verdicts on all; `event_of` makes the question with that number about some. None asked is a question,
    too.

    Raises ApiError when a part is not answered; what was asked before may be done by then, as with any answer that
    comes too late.
    """
    deadline_ms = context.services.clock.monotonic_ms() + timeout_ms
    verdicts: dict[TopicPartition, PartitionVerdict] = {}
    for part in _parts(requested):
        left_ms = timeout_ms if not verdicts else max(0, deadline_ms - context.services.clock.monotonic_ms())

        def event(number: int, part: list[Asked] = part) -> ControllerEvent:
            return event_of(number, part)

        answer = await context.services.controller.ask(event, left_ms)
        if isinstance(answer, ShutdownAnswer):
            raise InvariantViolation(f"the controller answers {event_of.__name__} as a broker that stops")
        verdicts |= answer
    return verdicts


def _parts(requested: Sequence[Asked]) -> Iterator[list[Asked]]:
    rest = iter(requested)
    part = list(islice(rest, PARTITIONS_ASKED_AT_ONCE))
    yield part
    while part := list(islice(rest, PARTITIONS_ASKED_AT_ONCE)):
        yield part
