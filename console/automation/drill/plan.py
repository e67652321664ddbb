"""A drill as a plan: whom, what, for how long, and what is expected of it. Pure."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from console.automation.drill.expect import ExpectedEffects
from console.automation.drill.faults import WORDS, Fault, course_of
from console.cluster.placement.sentences import count_of
from console.kit.plans.plan import Plan, PlanLine

if TYPE_CHECKING:
    from console.automation.drill.queries import DrillOutlook, DrillTarget

ACTION = "begin drill"
UNDER_WAY = "A drill is under way already."


def drill_plan(fault: Fault, target: "DrillTarget", seconds: int, outlook: "DrillOutlook") -> Plan:
    """Return the plan of the fault on exactly this process, with what it may cause."""
    process = target.process
    assert process is not None
    return Plan(
        action=ACTION,
        object_type="process",
        object_name=process.name,
        lines=(PlanLine(process.name, process.state, f"{fault}, {seconds} s", is_told=True),),
        read=(
            f"{fault} {seconds}",
            target.why,
            str(process.pid),
            process.run_token,
            *outlook.confirmed,
        ),
        touches=(f"Chosen: {target.why}.", course_of(fault, seconds), *outlook.course, *_expected(outlook.expected)),
        losses=outlook.harms,
        safe_because="",  # a fault is a fault
        undo=WORDS[fault].undo,
        typed_name=process.name,
        obstacle=outlook.why_not,
    )


def _expected(expected: ExpectedEffects) -> Iterable[str]:
    if not expected.notices:
        yield "Expected: the cluster does not miss it; clients that use it wait."
    if expected.leaders_moved[1]:
        moved = count_of(expected.leaders_moved[1], "leadership")
        yield (
            f"Expected: up to {moved} moved to other brokers, after at most {expected.unanswered_s[1]:.0f} s without "
            f"an answer; in sync again within {expected.back_s:.0f} s of its return."
        )
    if expected.quorumless_s[1]:
        most = f"{expected.quorumless_s[1]:.0f} s"
        yield (
            f"Expected: ZooKeeper's other servers elect a leader; until then, for at most {most}, none serves. Brokers "
            "may have to begin another session, and another one may become controller."
        )
    elif expected.controller_moves[1]:
        yield "Expected: another broker becomes controller."
    if expected.groups:
        yield f"{count_of(expected.groups, 'consumer group')} coordinated by it wait for another coordinator."
    yield (
        "It ends early when it is worse than that, and everything is put back. Afterwards expected and measured "
        "effects are shown side by side."
    )
