"""What a proposal comes to now: the plan of the page that does the same by hand, made from what the cluster says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.contrib.auth.models import User

from console.automation.healing.acting import InSync, why_unsafe
from console.automation.healing.kinds import TroubleKind, TroubleRule
from console.cluster.placement.actions import do_elect_preferred_leaders, do_move
from console.cluster.placement.election import ElectionPlan, plan_election
from console.cluster.placement.move import BALANCE, DRAIN, MovePlan
from console.cluster.placement.moving import balance_proposal, drain_proposal, planned
from console.cluster.placement.optimise import Goal
from console.cluster.placement.propose import PlacementProposal
from console.cluster.placement.sentences import count_of
from console.kit.common.current_cluster import here
from console.kit.common.figures import size
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.plans.apply import Refusals
from console.kit.plans.plan import Confirmation, Plan
from console.state.clusters.models import Broker, Partition

#: Partitions moved at a time to even something out: the rest is seen when these have arrived.
CHANGES_MAX = 10
_GOALS: Mapping[TroubleKind, tuple[Goal, ...]] = {
    TroubleKind.DISK: (Goal.DISK,),
    TroubleKind.HOT: (Goal.IN, Goal.OUT, Goal.LEADERS),
}


Stuck = Mapping[TopicPartition, str]


@dataclass(frozen=True, slots=True)
class Remedy:
    """A plan, and what carries it out: moves, or an election. `stuck`: what is left alone, with why."""

    plan: Plan
    move: MovePlan | None = None
    election: ElectionPlan | None = None
    stuck: Stuck = field(default_factory=dict)

    @property
    def outlook(self) -> str:
        if self.move is None:
            return f"{count_of(len(self.plan.lines), 'leader')} would be elected; nothing is copied."
        left = f"; {count_of(len(self.stuck), 'partition')} left alone" if self.stuck else ""
        return f"{count_of(len(self.move.moves), 'partition')} would move, {size(self.move.copied_bytes)} copied{left}."


@dataclass(frozen=True, slots=True)
class NoRemedy:
    """There is nothing to do, or not any more; `stuck` is what would have to be done and cannot."""

    why: str
    stuck: Stuck = field(default_factory=dict)


def remedy_of(kind: TroubleKind, subject: int | None, rule: TroubleRule) -> Remedy | NoRemedy:
    """Raises GatewayError."""
    match kind:
        case TroubleKind.BROKER_GONE:
            return _replace(-1 if subject is None else subject, rule)
        case TroubleKind.LEADERS:
            return _elect()
        case _:
            wishes, _ = balance_proposal(_GOALS[kind], CHANGES_MAX)
            return _moves(wishes, rule, BALANCE, "Nothing that may be moved evens it out.")


def carry_out(actor: User, remedy: Remedy, confirmation: Confirmation) -> Refusals:
    """Move partitions as the page of placement does. Raises NotConfirmedError, GatewayError."""
    if remedy.move is not None:
        refused, _ = do_move(actor, remedy.plan, remedy.move, confirmation)
        return refused
    assert remedy.election is not None
    return do_elect_preferred_leaders(actor, remedy.plan, remedy.election, confirmation)


def _replace(broker_id: int, rule: TroubleRule) -> Remedy | NoRemedy:
    if broker_id in _alive():
        return NoRemedy(f"Broker {broker_id} is back.")
    return _moves(drain_proposal(broker_id), rule, DRAIN, "There is nowhere to go for what it holds: add a broker.")


def _moves(wishes: PlacementProposal, rule: TroubleRule, action: str, nothing: str) -> Remedy | NoRemedy:
    unsafe = why_unsafe(wishes.targets, _in_sync(wishes.targets), _alive())
    targets = {place: target for place, target in wishes.targets.items() if place not in unsafe}
    stuck = {**wishes.stuck, **unsafe}
    if not targets:
        return NoRemedy(next(iter(stuck.values()), "") or nothing, stuck)
    move = planned(targets, rule.rate)
    return Remedy(move.as_plan(here.BOOTSTRAP_SERVERS, action), move, stuck=stuck)


def _elect() -> Remedy | NoRemedy:
    registered = frozenset(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    partitions = Partition.objects.select_related("topic").order_by("topic__name", "partition")
    election = plan_election(partitions.iterator(chunk_size=2_000), registered)
    if not election.moves:
        return NoRemedy("Every leader that can be is where it is preferred.")
    return Remedy(election.as_plan(here.BOOTSTRAP_SERVERS), election=election)


def _in_sync(targets: Mapping[TopicPartition, tuple[int, ...]]) -> dict[TopicPartition, InSync]:
    topics = {topic for topic, _ in targets}
    rows = Partition.objects.filter(topic__name__in=topics).select_related("topic")
    return {
        (row.topic.name, row.partition): InSync(
            tuple(row.isr), min(row.topic.min_insync_replicas or 1, len(row.replicas))
        )
        for row in rows
    }


def _alive() -> frozenset[int]:
    return frozenset(broker.id for broker in cluster_gateway().describe_cluster().brokers)
