"""One beat of a drill: look, decide, do, write, push.

The row says what is about to be done before it is done, so that a worker that dies in between leaves nothing that the
next one does not put back.
"""

from dataclasses import asdict
from functools import partial

from console.automation.drill import hold
from console.automation.drill.compare import Probed, compare
from console.automation.drill.decide import DrillDecision, DrillFacts, DrillPhase, DrillStep, decide
from console.automation.drill.faults import Fault
from console.automation.drill.groups import looked_on, read_stories, went_on
from console.automation.drill.guarding import why_worse
from console.automation.drill.models import Drill
from console.automation.drill.probed import probed_of
from console.automation.drill.queries import group_looks, is_counted, outlook, sample_now
from console.automation.drill.samples import SAMPLES_MAX, Sample, is_whole, measure
from console.kit.operations.queries import operation_under_way
from console.kit.operations.rows import settle
from console.processes.access import may_still_operate
from console.processes.models import ManagedProcess
from console.processes.os_process import ProcessIdentity

State = Drill.State
_STATES = {DrillStep.FINISH: State.DONE, DrillStep.CALL_OFF: State.CALLED_OFF}


def advance(drill: Drill) -> None:
    """Take the next step, or wait for what it needs."""
    process = ManagedProcess.objects.filter(name=drill.name).first()
    samples = [*drill.seen, sample_now(drill)][-SAMPLES_MAX:]
    decision = decide(_facts(drill, process, samples))
    values = _values(drill, process, decision, samples)
    also = (
        partial(_begin_kill, drill, process) if decision.do is DrillStep.BEGIN and drill.fault == Fault.KILL else None
    )
    settle(drill, values, also)
    if decision.do is DrillStep.BEGIN:
        _begin_hold(drill)
    if decision.do is DrillStep.PUT_BACK:
        hold.put_back(drill, process)


def _begin_hold(drill: Drill) -> None:
    """Begin the fault only if its beginning was stored: it may have been stopped meanwhile."""
    written = Drill.objects.get(pk=drill.pk)
    if written.phase == DrillPhase.FAULT and written.fault != Fault.KILL and written.is_open:
        hold.begin_hold(written)


def _begin_kill(drill: Drill, process: ManagedProcess | None) -> bool:
    if process is not None:
        hold.begin_kill(drill.actor, process)
    return True


def _facts(drill: Drill, process: ManagedProcess | None, samples: list[Sample]) -> DrillFacts:
    phase, now = DrillPhase(drill.phase), samples[-1]
    since_back = drill.back_ms is not None and now.seen_at_ms > drill.back_ms
    is_back = phase is not DrillPhase.BEFORE and hold.is_back(drill, process)
    return DrillFacts(
        phase=phase,
        name=drill.name,
        in_phase_ms=now.at_ms - drill.phase_ms,
        fault_ms=drill.seconds * 1_000,
        is_called_off=drill.is_called_off,
        why_not=_why_not(drill, process) if phase is DrillPhase.BEFORE else "",
        worse=_worse(drill, samples) if phase is DrillPhase.FAULT else "",
        is_over=phase is DrillPhase.FAULT and hold.is_over(drill, process),
        is_back=is_back,
        is_whole=is_back and since_back and is_whole(now, drill.broker_id) and now.zookeeper >= samples[0].zookeeper,
        is_counted=is_counted(drill),
    )


def _why_not(drill: Drill, process: ManagedProcess | None) -> str:
    """Return why the drill may not begin, asked until the moment it begins."""
    if (
        process is None
        or ProcessIdentity(process.pid or 0, process.create_time or 0.0, process.run_token) != drill.identity
    ):
        return f"{drill.name} is not the process any more that it was planned for."
    if not may_still_operate(drill.actor, [drill.name]):
        return f"{drill.actor_name} has lost the right to this."
    return outlook(process, Fault(drill.fault), drill.seconds, but=drill).why_not


def _worse(drill: Drill, samples: list[Sample]) -> str:
    fault_ms = drill.fault_ms or 0
    before = [sample for sample in samples if sample.at_ms <= fault_ms]
    if other := operation_under_way(but=drill):
        return f"{other} is under way"
    since = [sample for sample in samples if sample.at_ms > fault_ms]
    return why_worse(drill.expectation, since, before[-1] if before else None, drill.broker_id)


def _values(
    drill: Drill, process: ManagedProcess | None, decision: DrillDecision, samples: list[Sample]
) -> dict[str, object]:
    """Return changed columns, unless another process was quicker."""
    at_ms = samples[-1].at_ms
    values: dict[str, object] = {
        "sentence": decision.sentence,
        "samples": [sample.as_json() for sample in samples],
        "phase": decision.phase.value,
        "state": _STATES.get(decision.do, drill.state),
    }
    values |= _groups(drill, samples)
    if decision.phase != drill.phase:
        values["phase_ms"] = at_ms
    if decision.do is DrillStep.BEGIN:
        values |= {"fault_ms": at_ms, "holder_token": "" if drill.fault == Fault.KILL else hold.new_token()}
    if decision.early:
        values["early"] = decision.early[:300]
    if decision.phase is DrillPhase.RECOVER and drill.phase != DrillPhase.RECOVER:
        values["back_ms"] = at_ms
    if decision.do in _STATES and drill.fault_ms is not None:
        values |= _comparison(drill, samples)
    return values


def _groups(drill: Drill, samples: list[Sample]) -> dict[str, object]:
    looks, stories, at_ms = group_looks(), read_stories(drill.groups), samples[-1].at_ms
    if drill.fault_ms is None:
        after = looked_on(stories, looks, at_ms)
    else:
        passed_ms = max(0, at_ms - samples[-2].at_ms) if len(samples) > 1 else 0
        after = went_on(stories, looks, at_ms, passed_ms)
    unwatched = sum(look.name not in after for look in looks)
    return {"groups": {name: item.as_json() for name, item in after.items()}, "unwatched": unwatched}


def _comparison(drill: Drill, samples: list[Sample]) -> dict[str, object]:
    measured = measure(samples, drill.fault_ms or 0, drill.back_ms, drill.broker_id)
    probed: Probed | None = probed_of(drill)
    rows = compare(drill.expectation, measured, probed, of_broker=drill.broker_id is not None)
    worse = sum(row.verdict == "worse" for row in rows)
    early = f" Ended early: {drill.early}." if drill.early else ""
    what = "Everything was as expected." if not worse else f"{worse} of {len(rows)} figures were worse than expected."
    return {"rows": [asdict(row) for row in rows], "sentence": f"{what}{early}"}
