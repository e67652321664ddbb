"""What comes next of a drill. Pure: the beat asks, this answers.

Before the fault it looks on for a while, so that there is something to compare with; after it everything is put back
before anything else, however the fault ended, and the drill is not over before that has been seen.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

BEFORE_MS = 10_000
#: What holds a process up has begun by then, on a machine that does other things too.
BEGINS_MS = 5_000
#: A cluster that is not whole by then is told, and the drill is over.
RECOVER_MAX_MS = 300_000
#: The probe tells a minute when it is over.
COUNT_MAX_MS = 100_000
#: A clock that was set back by more tells nobody how long anything has lasted.
BACK_MAX_MS = BEGINS_MS
_SET_BACK = "the clock was set back"


class DrillPhase(StrEnum):
    BEFORE = "looking"
    FAULT = "fault"
    BACK = "putting back"
    RECOVER = "recovering"
    COUNT = "counting"


class DrillStep(StrEnum):
    NOTHING = "nothing"
    BEGIN = "begin"
    PUT_BACK = "put back"
    FINISH = "finish"
    CALL_OFF = "call off"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillFacts:
    """`why_not`: the fault may not begin; `worse`: it is worse than expected; `is_over`: what caused it has ended.

    `is_back`: nothing of it is left; `is_whole`: as seen since then; `is_counted`: the probe has told its minutes.
    """

    phase: DrillPhase
    name: str
    in_phase_ms: int
    fault_ms: int
    is_called_off: bool = False
    why_not: str = ""
    worse: str = ""
    is_over: bool = False
    is_back: bool = False
    is_whole: bool = False
    is_counted: bool = True


@dataclass(frozen=True, slots=True)
class DrillDecision:
    """`early`: why the fault ended before its time; empty: it did not, or that was said before."""

    do: DrillStep
    phase: DrillPhase
    sentence: str
    early: str = ""


def decide(facts: DrillFacts) -> DrillDecision:
    if facts.in_phase_ms < -BACK_MAX_MS:
        facts = _as_if_it_were_over(facts)
    match facts.phase:
        case DrillPhase.BEFORE:
            return _before(facts)
        case DrillPhase.FAULT:
            return _fault(facts)
        case DrillPhase.BACK:
            return _back(facts)
        case DrillPhase.RECOVER:
            return _recover(facts)
        case DrillPhase.COUNT:
            return _count(facts)


def _as_if_it_were_over(facts: DrillFacts) -> DrillFacts:
    why_not, worse = facts.why_not or f"{_SET_BACK}.", facts.worse or _SET_BACK
    return replace(facts, in_phase_ms=max(RECOVER_MAX_MS, facts.fault_ms), why_not=why_not, worse=worse)


def _before(facts: DrillFacts) -> DrillDecision:
    if facts.is_called_off:
        return DrillDecision(DrillStep.CALL_OFF, DrillPhase.BEFORE, "Stopped before anything was done.")
    if facts.why_not:
        return DrillDecision(DrillStep.CALL_OFF, DrillPhase.BEFORE, f"Nothing was done: {facts.why_not}")
    left = BEFORE_MS - facts.in_phase_ms
    if left > 0:
        return DrillDecision(DrillStep.NOTHING, DrillPhase.BEFORE, "Looks at the cluster as it is, to compare with.")
    return DrillDecision(DrillStep.BEGIN, DrillPhase.FAULT, f"{facts.name} is held up now.")


def _fault(facts: DrillFacts) -> DrillDecision:
    if facts.is_called_off:
        return _put_back(facts, "a user stopped it")
    if facts.worse:
        return _put_back(facts, facts.worse)
    left_s = (facts.fault_ms - facts.in_phase_ms) // 1_000
    if facts.in_phase_ms >= facts.fault_ms:
        return _put_back(facts, "")
    if facts.is_over and facts.in_phase_ms >= BEGINS_MS:
        return _put_back(facts, "what held it up has ended")
    return DrillDecision(DrillStep.NOTHING, DrillPhase.FAULT, f"{facts.name} is held up, for {left_s} s more.")


def _put_back(facts: DrillFacts, early: str) -> DrillDecision:
    why = f" Ended early: {early}." if early else ""
    return DrillDecision(DrillStep.PUT_BACK, DrillPhase.BACK, f"{facts.name} is put back.{why}", early)


def _back(facts: DrillFacts) -> DrillDecision:
    if not facts.is_back:
        return DrillDecision(DrillStep.PUT_BACK, DrillPhase.BACK, f"{facts.name} is being put back.")
    return DrillDecision(
        DrillStep.NOTHING, DrillPhase.RECOVER, f"{facts.name} is back; waits until every replica is in sync."
    )


def _recover(facts: DrillFacts) -> DrillDecision:
    if facts.is_whole:
        return DrillDecision(
            DrillStep.NOTHING, DrillPhase.COUNT, "All is in sync again; waits for the probe's last minute."
        )
    if facts.in_phase_ms >= RECOVER_MAX_MS:
        return DrillDecision(
            DrillStep.NOTHING, DrillPhase.COUNT, f"Not whole {RECOVER_MAX_MS // 60_000} minutes after it was put back."
        )
    if not facts.is_back:
        return DrillDecision(
            DrillStep.PUT_BACK, DrillPhase.RECOVER, f"{facts.name} is not there; it is put back again."
        )
    return DrillDecision(
        DrillStep.NOTHING, DrillPhase.RECOVER, f"{facts.name} is back; waits until every replica is in sync."
    )


def _count(facts: DrillFacts) -> DrillDecision:
    if facts.is_counted or facts.in_phase_ms >= COUNT_MAX_MS:
        return DrillDecision(DrillStep.CALL_OFF if facts.is_called_off else DrillStep.FINISH, DrillPhase.COUNT, "")
    return DrillDecision(DrillStep.NOTHING, DrillPhase.COUNT, "Waits for the probe's last minute.")
