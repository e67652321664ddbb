"""When the next broker may be restarted, and what is waited for until then. Pure: the beat asks, this answers.

One broker at a time, the controller last, and none while any partition lacks a replica in sync: then each partition
loses at most one, and the next is not taken before that one is back. The controller may move meanwhile; whoever it is
when the choice is made comes last of those that are left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class RestartProgress(StrEnum):
    """How far one broker is."""

    WAITING = "waiting"
    RESTARTING = "restarting"
    CATCHING_UP = "catching up"
    DONE = "done"


class RestartStep(StrEnum):
    NOTHING = "nothing"
    RESTART = "restart"
    PAUSE = "pause"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class BrokerFacts:
    """`is_new`: the process that runs now was started after the restart was asked for."""

    name: str
    broker_id: int
    progress: RestartProgress
    state: str
    is_running: bool
    has_ended: bool
    is_new: bool
    is_registered: bool
    #: When it was seen running again; None while it is not.
    back_at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartFacts:
    """`seen_at_ms` is when the collector last read all partitions. `lacking` are those short of a replica in sync."""

    now_ms: int
    brokers: Sequence[BrokerFacts]
    controller_id: int | None
    seen_at_ms: int
    lacking_count: int
    lacking: Sequence[str]
    #: Partitions that refuse or go offline while a broker is away even if all are in sync, by broker.
    gaps: Mapping[int, int]
    accepts_gaps: bool
    is_paused: bool = False


@dataclass(frozen=True, slots=True)
class RestartDecision:
    """`progress` of the broker called `name` from now on, if one is named. No sentence: the last one holds."""

    do: RestartStep
    sentence: str
    name: str = ""
    progress: RestartProgress | None = None


#: What the collector knows of partitions may be as old as that.
FRESH_MS = 15_000


def decide(facts: RestartFacts) -> RestartDecision:
    """Return the next step, and the sentence that says what is done or waited for."""
    current = next((broker for broker in facts.brokers if broker.progress in _UNDER_WAY), None)
    if facts.is_paused and (current is None or current.has_ended):
        return RestartDecision(RestartStep.NOTHING, "")
    if current is not None:
        return _go_on_with(current, facts)
    waiting = [broker for broker in facts.brokers if broker.progress is RestartProgress.WAITING]
    if not waiting:
        return RestartDecision(RestartStep.FINISH, f"All {len(facts.brokers)} brokers have been restarted.")
    reason = _why_not_now(facts)
    if reason:
        return RestartDecision(RestartStep.NOTHING, f"Waits before the next broker: {reason}")
    chosen = next(
        (broker_facts for broker_facts in waiting if broker_facts.broker_id != facts.controller_id), waiting[0]
    )
    return _restart(chosen, facts)


_UNDER_WAY = (RestartProgress.RESTARTING, RestartProgress.CATCHING_UP)


def _go_on_with(broker: BrokerFacts, facts: RestartFacts) -> RestartDecision:
    if broker.has_ended:
        sentence = f"Paused: {broker.name} did not stay ({broker.state}). Read its log, start it, then resume."
        return RestartDecision(RestartStep.PAUSE, sentence, broker.name, broker.progress)
    if not (broker.is_new and broker.is_running):
        return RestartDecision(
            RestartStep.NOTHING, f"{broker.name} is restarting: {broker.state}", broker.name, RestartProgress.RESTARTING
        )
    if not broker.is_registered:
        sentence = f"{broker.name} runs and is not registered in ZooKeeper yet."
        return RestartDecision(RestartStep.NOTHING, sentence, broker.name, RestartProgress.CATCHING_UP)
    missing = _why_not_whole(facts, broker.back_at_ms or facts.now_ms)
    if missing:
        return RestartDecision(
            RestartStep.NOTHING, f"{broker.name} is catching up: {missing}", broker.name, RestartProgress.CATCHING_UP
        )
    return RestartDecision(
        RestartStep.NOTHING, f"{broker.name} is back and in sync.", broker.name, RestartProgress.DONE
    )


def _why_not_now(facts: RestartFacts) -> str:
    down = [broker.name for broker in facts.brokers if not broker.is_running]
    if down:
        return f"{' and '.join(down)} {'does' if len(down) == 1 else 'do'} not run."
    unseen = [broker.name for broker in facts.brokers if not broker.is_registered]
    if unseen:
        return f"{' and '.join(unseen)} {'is' if len(unseen) == 1 else 'are'} not registered in ZooKeeper."
    if facts.controller_id is None:
        return "no broker is controller, so leaders could not move away."
    return _why_not_whole(facts, facts.now_ms - FRESH_MS)


def _why_not_whole(facts: RestartFacts, since_ms: int) -> str:
    if facts.seen_at_ms < since_ms:
        return "the collector has not read the partitions since."
    if facts.lacking_count:
        named = ", ".join(facts.lacking)
        more = facts.lacking_count - len(facts.lacking)
        listed = f"{named} and {more} more" if more > 0 else named
        lack = "partition lacks" if facts.lacking_count == 1 else "partitions lack"
        return f"{facts.lacking_count} {lack} a replica in sync ({listed})."
    return ""


def _restart(broker: BrokerFacts, facts: RestartFacts) -> RestartDecision:
    gaps = facts.gaps.get(broker.broker_id, 0)
    if gaps and not facts.accepts_gaps:
        have = "partition has" if gaps == 1 else "partitions have"
        sentence = (
            f"Paused before {broker.name}: {gaps} {have} no replica to spare now and would be out of order. "
            "Give the topics more replicas or a lower min.insync.replicas, then resume."
        )
        return RestartDecision(RestartStep.PAUSE, sentence)
    return RestartDecision(
        RestartStep.RESTART, f"{broker.name} is restarting.", broker.name, RestartProgress.RESTARTING
    )
