"""Leaders that change faster than followers follow, so that every replica has records that the others do not have."""

import time

from broker.common.errors import ErrorCode
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.stage import Stage

_ROUNDS = 2
_RECORDS = 5
PATIENT = {"replica.lag.time.max.ms": "5000", "zookeeper.session.timeout.ms": "6000"}


def fail_over_twice(stage: Stage) -> None:
    """Each of three replicas gets records of an epoch that the others do not know, and they have to agree (KIP-279).

    The leader writes while its followers stand still, and dies. The next one writes while the last one stands still,
    and dies. The last one leads; the other two come back with a tail each.
    """
    stage.create("twice", [(1, 2, 3)], min_insync_replicas="1")
    for number in range(_ROUNDS):
        first = stage.state("twice").leader
        second, third = stage.others(first)
        _write(stage, f"both-{number}", first)
        stage.suspend(second, third)
        _write(stage, f"first-{number}", first)
        stage.kill_and_expire(first)
        stage.resume(second, third)
        second = stage.await_leader("twice", 0, [second, third])
        (third,) = stage.others(first, second)
        _write(stage, f"two-{number}", second)
        stage.suspend(third)
        _write(stage, f"second-{number}", second)
        stage.kill_and_expire(second)
        stage.resume(third)
        stage.await_leader("twice", 0, [third])
        _write(stage, f"third-{number}", third)
        stage.start(*stage.random.sample([first, second], 2))
        stage.heal()
        stage.await_whole()


def _write(stage: Stage, name: str, broker_id: int) -> None:
    """Records that only this broker has to acknowledge; returns when it has, which it does when it knows it leads."""
    for attempt in range(1_000):
        producer = LateProducer(f"{name}-{attempt}", stage.broker(broker_id).port, "twice", "1", stage.history)
        for _ in range(_RECORDS):
            producer.send(0)
        if ErrorCode.NONE in producer.outcomes():
            return
        time.sleep(0.02)
    raise AssertionError(f"broker {broker_id} does not lead")
