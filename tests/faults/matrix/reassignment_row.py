"""Partitions that move while those who take part in the move die."""

import time
from collections.abc import Callable

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from tests.barnabas_cluster import await_true
from tests.faults.load import ProducerPlan
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.wire import WireClient

TOPIC = "moving"
REPLICAS = [(1, 2), (2, 3), (3, 1)]
PLAN = ProducerPlan("mover", TOPIC, len(REPLICAS), per_second=200)
_VERSION = 0


def move_while_brokers_die(stage: Stage) -> None:
    """In turn the broker that a replica moves to, the one that it leaves and the controller are killed in mid-move.

    The target stands still when the move is asked for, so that the move cannot be over before.
    """
    for victim_of in (_target, _source, _controller):
        began = time.monotonic()
        _move(stage, victim_of)
        stage.measured[victim_of.__name__.strip("_")] = time.monotonic() - began


def _target(_stage: Stage, _leaving: int, joining: int) -> int:
    return joining


def _source(_stage: Stage, leaving: int, _joining: int) -> int:
    return leaving


def _controller(stage: Stage, _leaving: int, _joining: int) -> int:
    return stage.watch.controller()


def _move(stage: Stage, victim_of: Callable[[Stage, int, int], int]) -> None:
    """Every partition whose replicas lack a certain broker gets it in place of its leader."""
    possible = {other: _moves_to(stage, other) for other in stage.others(stage.watch.controller())}
    joining = stage.random.choice([item for item, moves in possible.items() if moves])
    wanted = possible[joining]
    leaving = stage.replicas[TopicPartition(TOPIC, min(wanted))][0]
    stage.suspend(joining)
    _ask(stage, wanted)
    victim = victim_of(stage, leaving, joining)
    stage.kill(victim)
    if victim != joining:
        stage.resume(joining)
    stage.await_controller(stage.others(victim, joining) if victim == joining else stage.others(victim))
    stage.start(victim)
    stage.heal()
    for index, replicas in wanted.items():
        stage.replicas[TopicPartition(TOPIC, index)] = replicas
        await_true(
            lambda index=index: not stage.watch.is_moving(TOPIC, index), f"{TOPIC}-{index} rests", WHOLE_WITHIN_S
        )
    stage.await_whole()
    stage.await_progress()


def _moves_to(stage: Stage, joining: int) -> dict[int, tuple[int, ...]]:
    """The new replicas of each partition that is not there yet."""
    now = {index: stage.replicas[TopicPartition(TOPIC, index)] for index in range(len(REPLICAS))}
    return {index: (joining, *replicas[1:]) for index, replicas in now.items() if joining not in replicas}


def _ask(stage: Stage, wanted: dict[int, tuple[int, ...]]) -> None:
    partitions = [ReassignablePartition(partition_index=index, replicas=list(item)) for index, item in wanted.items()]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=10_000, topics=[ReassignableTopic(name=TOPIC, partitions=partitions)]
    )
    with WireClient(stage.broker(stage.watch.controller()).port) as client:
        answer = client.ask(request, _VERSION)
    codes = {answer.error_code, *(partition.error_code for topic in answer.responses for partition in topic.partitions)}
    assert codes == {ErrorCode.NONE}, f"the move is refused: {[ErrorCode(code).name for code in codes]}"
    stage.note(f"asked to move {wanted}")
