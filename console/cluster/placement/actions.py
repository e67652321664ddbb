"""What an operator does to placement: elect preferred leaders, move partitions, call moves off. Each is audited."""

from collections.abc import Collection
from dataclasses import replace

from django.contrib.auth.models import User
from django.db import IntegrityError

from console.cluster.placement.cancel import CancelPlan
from console.cluster.placement.election import ElectionPlan
from console.cluster.placement.models import Reassignment
from console.cluster.placement.move import MovePlan, PartitionMove, flat, nested, throttle_obstacle
from console.cluster.placement.moving import throttled_by
from console.cluster.placement.throttle import as_stored, as_throttles, throttles_after, throttles_for
from console.kit.common.databases import cluster_atomic
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.groups.interface import TopicPartition
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.moves.interface import RATE_KEYS, Throttles
from console.kit.plans.apply import OBJECT_NAME_LENGTH_MAX, Refusals, carry_out
from console.kit.plans.plan import Confirmation, ObstacleError, Plan

#: What was refused, and the move that is kept with its inverse (None: nothing was begun).
Begun = tuple[Refusals, Reassignment | None]
State = Reassignment.State


def do_elect_preferred_leaders(actor: User, plan: Plan, election: ElectionPlan, confirmation: Confirmation) -> Refusals:
    """Elect as planned; what was refused, with why. Raises NotConfirmedError, GatewayError."""

    def elect() -> Refusals:
        wanted = [(move.topic, move.partition) for move in election.moves]
        return _named(cluster_gateway().elect_preferred_leaders(wanted))

    return carry_out(actor, plan, confirmation, elect)


def do_move(actor: User, plan: Plan, move: MovePlan, confirmation: Confirmation) -> Begun:
    """Begin the moves of `move`, of which `plan` was shown. Raises NotConfirmedError, GatewayError.

    The former replicas are kept first. With a throttle that is set before anything is copied; the collector takes it
    away when nothing of the move is under way any more, also if this process does not live to see the answer.
    """
    kept: list[Reassignment] = []

    def begin() -> Refusals:
        kept.append(_keep(actor, plan, move))
        try:
            if move.rate is not None:
                _throttle(kept[0], move.moves, move.rate)
            refused = cluster_gateway().moves.alter(flat(move.wanted))
        except RefusedError:
            end_throttle(cluster_gateway(), kept[0])
            kept.pop().delete()
            raise
        _note_begun(kept[0], refused)
        return _named(refused)

    refused = carry_out(actor, plan, confirmation, begin)
    return refused, kept[0] if kept else None


def do_call_off(actor: User, plan: Plan, cancel: CancelPlan, confirmation: Confirmation) -> Refusals:
    """Call the moves of `cancel` off; what was refused. Raises NotConfirmedError, GatewayError."""
    targets = dict.fromkeys((move.place for move in cancel.moves), None)
    return carry_out(actor, plan, confirmation, lambda: _named(cluster_gateway().moves.alter(targets)))


def end_throttle(gateway: ClusterGateway, reassignment: Reassignment) -> None:
    """Restore the earlier throttle, unless it was changed since. Raises GatewayError.

    Only a broker that is registered can be told; for the others it is called again, and does what is left.
    """
    if reassignment.throttles is None:
        return
    set_then, former = (as_throttles(reassignment.throttles[which]) for which in ("set", "former"))
    registered = {broker.id for broker in gateway.describe_cluster().brokers}
    topics = {topic for topic, _ in gateway.moves.assignments(set_then.topics)}
    present = gateway.moves.throttles(registered & set_then.brokers.keys(), topics)
    for throttles in (set_then, *_being_set(reassignment)):
        gateway.moves.set_throttles(throttles_after(throttles, former, present))
    untold = {item: values for item, values in set_then.brokers.items() if item not in registered}
    left = {"set": as_stored(Throttles(untold)), "former": as_stored(former)}
    reassignment.throttles = left if untold else None
    reassignment.save(update_fields=["throttles"])


def change_rate(gateway: ClusterGateway, reassignment: Reassignment, rate: int | None) -> None:
    """Change the throttle of a running move; None removes it. Raises GatewayError, ObstacleError.

    What is about to be set is written down first, beside what is set: whichever of the two the cluster has when all of
    it has ended is put back.
    """
    if rate is None:
        end_throttle(gateway, reassignment)
        Reassignment.objects.filter(pk=reassignment.pk).update(rate=None)
        return
    _take_rate(reassignment, rate)
    if reassignment.throttles is None:
        _throttle(reassignment, _moves_of(reassignment), rate)
        return
    set_then = as_throttles(reassignment.throttles["set"])
    following = replace(set_then, brokers={broker: dict.fromkeys(RATE_KEYS, str(rate)) for broker in set_then.brokers})
    stored = {**reassignment.throttles, "next": as_stored(following)}
    Reassignment.objects.filter(pk=reassignment.pk).update(throttles=stored)
    gateway.moves.set_throttles(replace(following, topics={}))
    stored = {**reassignment.throttles, "set": as_stored(following)}
    # Also if the collector has found its end meanwhile: its next look puts this back.
    Reassignment.objects.filter(pk=reassignment.pk).update(throttles=stored)


def _take_rate(reassignment: Reassignment, rate: int) -> None:
    """Raises ObstacleError if another throttled move is under way."""
    try:
        with cluster_atomic():
            Reassignment.objects.filter(pk=reassignment.pk).update(rate=rate)
    except IntegrityError:
        raise ObstacleError(throttle_obstacle(throttled_by())) from None


def _moves_of(reassignment: Reassignment) -> list[PartitionMove]:
    former = flat(reassignment.former)
    return [PartitionMove(*place, former.get(place, ()), target) for place, target in flat(reassignment.wanted).items()]


def _being_set(reassignment: Reassignment) -> list[Throttles]:
    """Return the throttles that were about to be set when an earlier collector ended."""
    stored = reassignment.throttles or {}
    return [as_throttles(stored["next"])] if "next" in stored else []


def _keep(actor: User, plan: Plan, move: MovePlan) -> Reassignment:
    """Raises ObstacleError if another throttled move has begun since this one was planned."""
    try:
        with cluster_atomic():
            return Reassignment.objects.create(
                actor_name=actor.get_username(),
                action=plan.action,
                object_name=plan.object_name[:OBJECT_NAME_LENGTH_MAX],
                former=move.former,
                wanted=move.wanted,
                partition_count=len(move.moves),
                copied_bytes=move.copied_bytes,
                rate=move.rate,
            )
    except IntegrityError:
        raise ObstacleError(throttle_obstacle(throttled_by())) from None


def _throttle(reassignment: Reassignment, moving: Collection[PartitionMove], rate: int) -> None:
    """Set a throttle, stored before it is set: any collector that finds the row knows what to put back.

    A broker that is away neither gives nor takes, and could not be told.
    """
    gateway = cluster_gateway()
    moves, registered = gateway.moves, {broker.id for broker in gateway.describe_cluster().brokers}
    brokers = registered & {broker for line in moving for broker in (*line.old, *line.new)}
    former = moves.throttles(sorted(brokers), sorted({item.topic for item in moving}))
    wanted = throttles_for(moving, rate, former)
    wanted = Throttles({item: it for item, it in wanted.brokers.items() if item in registered}, wanted.topics)
    reassignment.throttles = {"set": as_stored(wanted), "former": as_stored(former)}
    reassignment.save(update_fields=["throttles"])
    moves.set_throttles(wanted)


def _note_begun(reassignment: Reassignment, refused: Collection[TopicPartition]) -> None:
    """Note which moves have begun; refused ones are neither waited for nor put back."""
    for name in ("former", "wanted"):
        begun = {place: to for place, to in flat(getattr(reassignment, name)).items() if place not in refused}
        setattr(reassignment, name, nested(begun))
    reassignment.partition_count -= len(refused)
    reassignment.state = State.RUNNING
    reassignment.save(update_fields=["former", "wanted", "partition_count", "state"])


def _named(refused: dict[TopicPartition, str]) -> Refusals:
    return {f"{topic}-{partition}": why for (topic, partition), why in refused.items()}
