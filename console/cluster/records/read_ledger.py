"""The ledger of what people read (`read_budget`), shared by all processes of the console through Redis.

Where Redis is not, or does not answer, each process keeps one of its own: reading stays bounded, and goes on.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import redis
from django.conf import settings

from console.cluster.records.read_budget import Limits, ReadAllowance, ReadBudgets, ledger_of
from console.kit.common.clock import now_ms
from console.kit.live.audience import redis_of_layer

logger = logging.getLogger(__name__)

#: The console's, whichever cluster is read: its processes and the network it goes over are the same.
KEY = "barnabas.reading"
_KEPT_SECONDS = 120
#: Several who charge at the same moment do it one after the other.
_TRIES = 50
#: So much later at most, for each time that somebody was quicker: they would meet again.
_LATER_S, _LATER_MAX = 0.001, 10
_T = TypeVar("_T")


def limits_now() -> Limits:
    return Limits(settings.READ_BUDGET, settings.READ_BUDGET_PER_PERSON)


class ReadLedger:
    """Safe to use from several threads."""

    def __init__(self, clock_ms: Callable[[], int] = now_ms):
        """`clock_ms` is for the ledger of this process; the shared one goes by the clock of Redis."""
        self._now_ms = clock_ms
        self._lock = threading.Lock()
        self._own: str = ""

    def charge(self, person: object, count: int = 0) -> ReadAllowance:
        """Charge `count` bytes that were read for `person`; return whether more may be, and when."""
        return self._with(lambda ledger, at_ms: ledger.charge(str(person), count, at_ms))

    def rates(self) -> tuple[float, dict[str, float]]:
        """Return recent bytes per second: of all persons together, and by person."""
        return self._with(lambda ledger, at_ms: (ledger.total_rate(at_ms), ledger.rates(at_ms)))

    def _with(self, do: Callable[[ReadBudgets, int], _T]) -> _T:
        client = redis_of_layer()
        if client is not None:
            try:
                return _shared(client, do)
            except redis.RedisError as error:
                logger.debug("the shared ledger of reading cannot be used: %s", error)
        with self._lock:
            ledger = ledger_of(self._own, limits_now())
            result = do(ledger, self._now_ms())
            self._own = ledger.as_text()
            return result


def _shared(client: redis.Redis, do: Callable[[ReadBudgets, int], _T]) -> _T:
    """Raises RedisError."""
    with client.pipeline() as pipe:
        for lost in range(_TRIES):
            time.sleep(random.uniform(0, min(lost, _LATER_MAX) * _LATER_S))
            pipe.watch(KEY)  # type: ignore[no-untyped-call]  # redis gives no types
            seconds, micros = pipe.time()
            ledger = ledger_of(pipe.get(KEY), limits_now())
            result = do(ledger, seconds * 1_000 + micros // 1_000)
            pipe.multi()
            pipe.set(KEY, ledger.as_text(), ex=_KEPT_SECONDS)
            try:
                pipe.execute()
            except redis.WatchError:
                continue
            return result
    raise redis.WatchError(f"{_TRIES} times another process was quicker")


LEDGER = ReadLedger()
