"""How long each trouble has lasted under somebody's eyes. Pure.

Only time counts in which it was looked: a collector that was away does not know whether a broker was, too. A trouble
that is over for one look begins anew, so one that comes and goes is never old.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.automation.healing.kinds import HealingMode, TroubleKind, TroubleRule
from console.automation.healing.symptoms import HealingFacts, Symptom, look

#: Looks further apart than that leave a hole in what is known.
GAP_MS = 60_000


@dataclass(frozen=True, slots=True)
class WaitingSymptom:
    """A trouble that has not lasted long enough."""

    symptom: Symptom
    due_at_ms: int


@dataclass(frozen=True, slots=True)
class WatchResult:
    """`present`: causes that are so now, None where that could not be seen. `due` have lasted as long as they must."""

    present: frozenset[str] | None = None
    due: tuple[Symptom, ...] = ()
    waiting: tuple[WaitingSymptom, ...] = ()
    held: Mapping[TroubleKind, str] = field(default_factory=dict)


class SymptomWatch:
    def __init__(self) -> None:
        self._since_ms: dict[str, int] = {}
        self._looked_at_ms = 0

    def look(self, facts: HealingFacts, rules: Mapping[TroubleKind, TroubleRule]) -> WatchResult:
        if facts.is_blind:
            return WatchResult(
                held=dict.fromkeys(TroubleKind, "What is true now is not known: the cluster could not be seen.")
            )
        if not 0 <= facts.now_ms - self._looked_at_ms <= GAP_MS:
            self._since_ms.clear()
        self._looked_at_ms = facts.now_ms
        seen = look(facts, rules)
        self._since_ms = {symptom.cause: self._since_ms.get(symptom.cause, facts.now_ms) for symptom in seen.symptoms}
        due, waiting = [], []
        for symptom in seen.symptoms:
            rule = rules[symptom.kind]
            due_at_ms = self._since_ms[symptom.cause] + rule.minutes * 60_000
            if rule.mode is HealingMode.OFF:
                continue
            if facts.now_ms >= due_at_ms:
                due.append(symptom)
            else:
                waiting.append(WaitingSymptom(symptom, due_at_ms))
        present = frozenset(self._since_ms)
        return WatchResult(present, tuple(due), tuple(waiting), seen.held)
