"""Which broker does not answer. Pure.

A broker is blamed for its own silence and for nothing else. A leader that answers that it waits for its replicas is
well; who does not answer is the replica it waits for. Silence is counted in steps of the probe's own clock, of which
none counts for more than STEP_MS_MAX: while the probe itself had no time, nobody was silent.
"""

from collections.abc import Collection
from dataclasses import dataclass

#: Without an answer for so long.
SILENT_MS = 3_000.0
#: Or for so long, when connections were refused or broken at least twice.
BROKEN_MS = 1_000.0
BROKEN_TIMES = 2
STEP_MS_MAX = 500.0


@dataclass(slots=True)
class BrokerBlame:
    """Whether one broker is blamed. `silent_ms`: the age of its oldest unanswered request; `why`: its last failure."""

    is_asked: bool = False
    silent_ms: float = 0.0
    broken: int = 0
    why: str = ""
    is_blamed: bool = False
    #: How long it had been silent when it was blamed, and when that was.
    noticed_after_ms: float = 0.0
    blamed_at_ms: int = 0


class BrokerWatch:
    def __init__(self) -> None:
        self.brokers: dict[int, BrokerBlame] = {}
        self._ticked_at_ms: float | None = None

    def follow(self, brokers: Collection[int]) -> None:
        """Watch exactly these brokers."""
        self.brokers = {broker: self.brokers.get(broker) or BrokerBlame() for broker in sorted(brokers)}

    def ask(self, broker: int) -> None:
        if broker in self.brokers:
            self.brokers[broker].is_asked = True

    def answer(self, broker: int) -> bool:
        """Return whether it was blamed until now."""
        was = self.brokers.get(broker)
        if was is not None:
            self.brokers[broker] = BrokerBlame()
        return was is not None and was.is_blamed

    def fail(self, broker: int, why: str, *, is_broken: bool) -> None:
        """Note that a broker did not answer; `is_broken`: its connection failed."""
        if broker in self.brokers:
            blame = self.brokers[broker]
            blame.is_asked, blame.why = True, why
            blame.broken += is_broken

    def tick(self, at_ms: float, now_ms: int) -> list[int]:
        """Return the brokers to blame from now on.

        `at_ms` is of a clock that does not jump, `now_ms` the time on the wall.
        """
        step = 0.0 if self._ticked_at_ms is None else min(max(at_ms - self._ticked_at_ms, 0.0), STEP_MS_MAX)
        self._ticked_at_ms = at_ms
        blamed = []
        for broker, item in self.brokers.items():
            if not item.is_asked:
                continue
            item.silent_ms += step
            if not item.is_blamed and _is_gone(item):
                item.is_blamed, item.noticed_after_ms, item.blamed_at_ms = True, item.silent_ms, now_ms
                blamed.append(broker)
        return blamed

    @property
    def blamed(self) -> dict[int, BrokerBlame]:
        return {broker: item for broker, item in self.brokers.items() if item.is_blamed}


def _is_gone(blame: BrokerBlame) -> bool:
    return blame.silent_ms >= SILENT_MS or (blame.broken >= BROKEN_TIMES and blame.silent_ms >= BROKEN_MS)
