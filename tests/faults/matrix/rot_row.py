"""A disk that gives back other bytes than it was given, in a segment nobody writes to any more."""

import shutil
import time

from confluent_kafka import Consumer, KafkaError, TopicPartition

from broker.common.errors import ErrorCode
from broker.log.files import SharedFile
from broker.log.scan import BadBatchError, scan_batches
from broker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from tests.barnabas_cluster import await_true
from tests.faults.matrix.late_client import FETCH_VERSION, LateProducer
from tests.faults.matrix.log_files import Batch, batches, flip, garble_records, replica_directory, segments
from tests.faults.matrix.stage import WHOLE_WITHIN_S, Stage
from tests.faults.matrix.wire import WireClient

REFUSED = ('event="cannot follow yet" partition=rotten-0 .*does not match its CRC',)
_RECORDS = 60
#: In the header of a batch, its magic byte: that this is a batch at all.
_MAGIC_AT = 16


def rot(stage: Stage) -> None:
    """Of two batches of a leader one has a rotten header, the other, before it, rotten records.

    The leader finds them as they are when it starts, and looks at neither: it had stopped cleanly. Where the header is
    rotten a fetch is answered CORRUPT_MESSAGE. Rotten records leave as they are, with the CRC that tells, as in Kafka:
    who checks it is given an error and no record. A follower that has to begin anew takes no rotten batch, and is not
    in sync before somebody leads who has all of them.
    """
    leader, whole, anew = stage.random.sample(stage.others(), 3)
    stage.create(
        "rotten", [(leader, whole, anew)], min_insync_replicas="1", segment_bytes="3000", index_interval_bytes="500"
    )
    _write(stage, leader)
    stage.stop(leader)
    records, header, behind = _rot(stage, leader)
    stage.start(leader)
    stage.broker(leader).await_healthy()
    stage.await_whole()
    stage.lead_as_preferred("rotten")
    _expect_answers(stage, leader, records, header, behind)
    _expect_no_garbage(stage, records)
    stage.stop(anew)
    shutil.rmtree(replica_directory(stage.broker(anew), "rotten", 0))
    stage.start(anew)
    stage.broker(anew).await_healthy()
    log = stage.broker(anew).log_path
    # Told once, however often it is tried.
    await_true(lambda: "does not match its CRC" in log.read_text(), f"{anew} meets the rot", WHOLE_WITHIN_S)
    if _end(stage, anew) > records.base_offset or anew in stage.state("rotten").isr:
        stage.violations.append(f"{anew} has come to {_end(stage, anew)}, {records} is rotten; {stage.state('rotten')}")
    _expect_sound(stage, anew)
    stage.kill_and_expire(leader)
    stage.await_leader("rotten", 0, [whole])
    shutil.rmtree(replica_directory(stage.broker(leader), "rotten", 0))
    stage.heal()
    stage.await_whole()


def _write(stage: Stage, leader: int) -> None:
    producer = LateProducer("sound", stage.broker(leader).port, "rotten", "all", stage.history)
    for _ in range(_RECORDS):
        producer.send(0)
    codes = producer.outcomes()
    assert not any(codes), f"acks=all was answered {codes}"


def _rot(stage: Stage, broker_id: int) -> tuple[Batch, Batch, Batch]:
    """The batch whose records are garbled now, a later one whose header is, and the first of the segment behind."""
    sealed = segments(replica_directory(stage.broker(broker_id), "rotten", 0))[:-1]
    assert len(sealed) >= 3, f"there are {len(sealed)} sealed segments"
    records, header = stage.random.choice(batches(sealed[0])), stage.random.choice(batches(sealed[1]))
    behind = batches(sealed[2])[0]
    garble_records(records, stage.random)
    flip(header.path, header.position + _MAGIC_AT)
    stage.note(f"rotten-0 on {broker_id}: records at {records.base_offset}, header at {header.base_offset}")
    return records, header, behind


def _expect_answers(stage: Stage, leader: int, records: Batch, header: Batch, behind: Batch) -> None:
    for batch, expected in (
        (records, ErrorCode.NONE),
        (header, ErrorCode.CORRUPT_MESSAGE),
        (behind, ErrorCode.NONE),
    ):
        code = ErrorCode(_fetch(stage, leader, batch.base_offset).error_code)
        if code is not expected:
            stage.violations.append(f"the leader answered {code.name}, not {expected.name}, at {batch.base_offset}")


def _fetch(stage: Stage, leader: int, offset: int) -> PartitionData:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=100_000)
    topic = FetchTopic(topic="rotten", partitions=[partition])
    with WireClient(stage.broker(leader).port) as client:
        request = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=100_000, topics=[topic])
        return client.ask(request, FETCH_VERSION).responses[0].partitions[0]


def _expect_no_garbage(stage: Stage, rotten: Batch) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": stage.cluster.bootstrap_servers,
            "group.id": "checking",
            "check.crcs": True,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition("rotten", 0, rotten.base_offset)])
    end = time.monotonic() + WHOLE_WITHIN_S
    first = None
    while first is None and time.monotonic() < end:
        first = consumer.poll(1)
    consumer.close()
    error = first.error() if first else None
    if error is None or error.code() != KafkaError._BAD_MSG:
        met = error or (first and (first.offset(), first.value()))
        stage.violations.append(f"who checks CRCs was given {met} at {rotten.base_offset}, which is rotten")


def _end(stage: Stage, broker_id: int) -> int:
    """Where the broker's replica ends, 0 while it has none."""
    lines = stage.broker(broker_id).get("/metrics").splitlines()
    mine = 'barnabas_broker_log_end_offset{partition="0",topic="rotten"}'
    return next((int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(mine)), 0)


def _expect_sound(stage: Stage, broker_id: int) -> None:
    for path in segments(replica_directory(stage.broker(broker_id), "rotten", 0)):
        file = SharedFile(path)
        try:
            for _ in scan_batches(file, 0, file.size_bytes, int(path.stem), verify_crc=True):
                pass
        except BadBatchError as error:
            stage.violations.append(f"the rot has come to {broker_id}: {error}")
