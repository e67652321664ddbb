"""Logs that have lost their end, or end in what was never a batch, when their broker starts again."""

import time

from broker.common.errors import ErrorCode
from broker.common.types import NO_BROKER, TopicPartition
from broker.log.checkpoints import REPLICATION_OFFSET_CHECKPOINT, read_offset_checkpoint
from tests.barnabas_cluster import await_true
from tests.faults.history import Policy
from tests.faults.matrix.late_client import LateProducer
from tests.faults.matrix.log_files import batches, garble_records, replica_directory, segments, truncate
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.unclean_row import FollowingReader

KEPT = 'event="records that may have been acknowledged are truncated for the leader, which lacks them'
LOST = (
    KEPT,
    'event="log may have lost its end" partition=last-0',
    'event="log may lack records that no other replica is known to have" partition=last-0',
    'event="unclean election: .* partition=last-0',
    'event="log may lack records, left the isr" partition=pair-0',
)
TORN = (
    'event="log end cut".* reason="(a batch of|[0-9]+ bytes are too few)',
    'event="log end cut".* reason="the CRC does not match"',
    'event="log may lack records, left the isr"',
)
_RECORDS = 40
_BATCHES_HIT = 3
_STAYS_BEHIND_S = 1.5


def lose_the_tail_of_the_last(stage: Stage) -> None:
    """The last of an ISR loses its tail, where one replica is enough for an acknowledgement, and where two are asked
    for.
    """
    _lose_what_one_acknowledged(stage)
    _lose_what_two_acknowledged(stage)


def _lose_what_one_acknowledged(stage: Stage) -> None:
    """The last of an ISR loses whole batches that it had acknowledged alone: no CRC tells, only what it noted itself.

    It says so, and leads again, for nobody else may; what it gives the same offsets to has a later epoch, so that who
    has read the first meaning is told, and followers, one of which holds more than it, end up with its bytes. What they
    had more they keep beside their logs.
    """
    first, second, third = stage.random.sample(stage.others(), 3)
    stage.create("last", [(first, second, third)], Policy.UNCLEAN, min_insync_replicas="1")
    reader = FollowingReader(stage.cluster.bootstrap_servers, "last")
    written = _write(stage, "all", first)
    for dead, isr in ((third, [first, second]), (second, [first])):
        stage.kill_and_expire(dead)
        stage.await_isr("last", 0, isr)
        written += _write(stage, f"without-{dead}", first)
    reader.read(written)
    _await_noted(stage, first, "last", written)
    epoch = stage.state("last").leader_epoch
    stage.kill_and_expire(first)
    kept = _cut(stage, first)
    stage.start(first)
    stage.broker(first).await_healthy()
    await_true(
        lambda: stage.state("last").leader == first and stage.state("last").leader_epoch > epoch,
        f"broker {first} leads in a later epoch than {epoch}",
        WHOLE_WITHIN_S,
    )
    after = _write(stage, "after", first)
    stage.heal()
    stage.await_whole()
    while kept + after < written + _RECORDS:
        after += _write(stage, f"after-{after}", first)
    reader.expect_truncation(stage)


def _lose_what_two_acknowledged(stage: Stage) -> None:
    """The last of an ISR loses whole batches that it had acknowledged with another, which left the ISR before it.

    That one is eligible to lead (KIP-966): the broker that lost its tail, back before it, does not, nor does the third,
    which lacks some of them. Nothing that was acknowledged is lost.
    """
    first, second, third = stage.random.sample(stage.others(), 3)
    stage.create("pair", [(first, second, third)], Policy.KEEP, min_insync_replicas="2")
    written = _write(stage, "pair-all", first, "pair")
    stage.kill_and_expire(third)
    stage.await_isr("pair", 0, [first, second])
    written += _write(stage, f"pair-without-{third}", first, "pair")
    stage.kill_and_expire(second)
    stage.await_isr("pair", 0, [first])
    _await_noted(stage, first, "pair", written)
    stage.kill_and_expire(first)
    _cut(stage, first, "pair")
    at = stage.start(first)
    stage.start(third)
    stage.broker(first).await_healthy()
    stage.broker(third).await_healthy()
    stage.stay_until(at + _STAYS_BEHIND_S)
    state = stage.state("pair")
    if state.leader != NO_BROKER or state.elr != (second,):
        stage.violations.append(
            f"{first} has lost what it acknowledged, and pair-0 does not wait for {second}: {state}"
        )
    stage.start(second)
    await_true(
        lambda: stage.state("pair").leader == second, f"the eligible broker {second} leads pair-0", WHOLE_WITHIN_S
    )
    stage.heal()
    stage.await_whole()


def _write(stage: Stage, name: str, leader: int, topic: str = "last") -> int:
    """Records that the ISR acknowledges, a batch each; how many. Who begins to lead meanwhile has refused the first."""
    end = time.monotonic() + WHOLE_WITHIN_S
    attempt = acknowledged = 0
    while acknowledged < _RECORDS:
        attempt += 1
        producer = LateProducer(f"{name}-{attempt}", stage.broker(leader).port, topic, "all", stage.history)
        for _ in range(_RECORDS):
            producer.send(0)
        codes = producer.outcomes()
        acknowledged += codes.count(ErrorCode.NONE)
        assert time.monotonic() < end, f"acks=all is still answered {codes[0].name}"
        if ErrorCode.NONE not in codes:
            time.sleep(0.05)
    return acknowledged


def _await_noted(stage: Stage, broker_id: int, topic: str, offset: int) -> None:
    checkpoint, partition = stage.broker(broker_id).directory / "logs" / REPLICATION_OFFSET_CHECKPOINT, (topic, 0)
    await_true(
        lambda: read_offset_checkpoint(checkpoint).get(TopicPartition(*partition), 0) >= offset,
        "the broker notes what is committed",
        WHOLE_WITHIN_S,
    )


def _cut(stage: Stage, broker_id: int, topic: str = "last") -> int:
    """The offset it ends with now, below what each of the others still holds."""
    (path,) = segments(replica_directory(stage.broker(broker_id), topic, 0))
    there = batches(path)
    first_lost = there[stage.random.randrange(_RECORDS // 2, 2 * _RECORDS)]
    truncate(path, first_lost.position)
    stage.note(f"cut the log of {broker_id} from {there[-1].last_offset + 1} to {first_lost.base_offset}")
    return first_lost.base_offset


def tear_the_tails(stage: Stage) -> None:
    """All die at once; of one of them each log ends in a batch that is cut off or garbled, and it comes back first.

    It held those batches in sync, so producers were told that they are safe: it may lead none of these partitions
    before another of the ISR is back, and gets from that one what it has lost.
    """
    torn = stage.random.choice(stage.others())
    stage.kill(*stage.others())
    for other in stage.others():
        stage.expire_session(other)
    partitions = range(6)
    ends = {index: _tear(stage, torn, index) for index in partitions}
    at = stage.start(torn)
    stage.await_controller([torn])
    stage.broker(torn).await_healthy()
    stage.stay_until(at + _STAYS_BEHIND_S)
    for index in partitions:
        if stage.state("kept", index).leader == torn:
            stage.violations.append(f"{torn} leads kept-{index}, of which it has lost what it acknowledged")
    stage.heal()
    stage.await_whole()
    for index, end in ends.items():
        there = batches(segments(replica_directory(stage.broker(torn), "kept", index))[-1])
        if there[-1].last_offset < end:
            stage.violations.append(f"kept-{index} ends with {there[-1].last_offset} on {torn}, which had had {end}")


def _tear(stage: Stage, broker_id: int, partition: int) -> int:
    """What is left of the log is whole up to a batch some way before its end; the last offset it had."""
    path = segments(replica_directory(stage.broker(broker_id), "kept", partition))[-1]
    there = batches(path)
    hit = there[-stage.random.randrange(1, _BATCHES_HIT + 1)]
    if partition % 2:
        garble_records(hit, stage.random)
    else:
        truncate(path, hit.position + stage.random.randrange(1, hit.size))
    stage.note(f"{'garbled' if partition % 2 else 'cut off'} kept-{partition}@{hit.base_offset} on {broker_id}")
    return there[-1].last_offset
