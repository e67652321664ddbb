"""Replicas move between the directories of a broker, while clients write and read."""

from pathlib import Path
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log.config import UNLIMITED, LogConfig
from broker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from broker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from broker.records.builder import build_batch
from broker.records.record import Record
from broker.runtime.replication.role_changes import StoppedPartition, stop_replicas
from tests.broker.log.thinned_out import thin_out
from tests.broker.server.conftest import Served
from tests.eventually import eventually

T_0 = TopicPartition("t", 0)


def to(path: Path, *partitions: int, topic: str = "t") -> AlterReplicaLogDirsRequest:
    named = AlterReplicaLogDirTopic(name=topic, partitions=list(partitions or (0,)))
    return AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=str(path), topics=[named])])


async def codes(client, request: AlterReplicaLogDirsRequest, version: int = 2) -> dict:
    results = (await client.ask(request, version)).results
    return {
        (topic.topic_name, partition.partition_index): ErrorCode(partition.error_code)
        for topic in results
        for partition in topic.partitions
    }


async def described(client) -> dict:
    """By directory: (partition, is it a copy, lag)."""
    answer = await client.ask(DescribeLogDirsRequest(topics=None), 4)
    return {
        Path(result.log_dir).name: [
            (topic.name, one.partition_index, one.is_future_key, one.offset_lag)
            for topic in result.topics
            for one in topic.partitions
        ]
        for result in answer.results
    }


def set_rate(served, rate: int = UNLIMITED) -> None:
    served.config.set_dynamic({}, {"replica.alter.log.dirs.io.max.bytes.per.second": rate})
    served.log_dir_moves.reconfigure()


def append(served, count: int, size: int = 1_000, at: TopicPartition = T_0) -> None:
    for place in range(count):
        batch = build_batch([Record(0, 1_000 + place, b"%d" % place, b"v" * size)])
        served.replicas.append(at, memoryview(batch))


def content(served) -> bytes:
    log = served.logs.get(T_0)
    data, offset = b"", log.log_start_offset
    while (log_slice := log.read(offset, 1 << 20, log.log_end_offset)).length:
        data += log_slice.read()
        offset = log.offset_after(offset, log_slice)
    return data


def home(served) -> str:
    return served.logs.get(T_0).directory.parent.name


@pytest.fixture
async def served(tmp_path):
    broker = Served(tmp_path, names=("logs", "more"))
    yield broker
    await broker.log_dir_moves.stop()
    broker.stop()


@pytest.fixture
def directories(served):
    """Where the log of t-0 is, and the other."""
    served.lead("t")
    here = served.logs.get(T_0).directory.parent
    (there,) = {path.absolute() for path in served.logs.online_directories} - {here.absolute()}
    served.replicas.get("t", 0).log.config = LogConfig(segment_bytes=20_000)
    return here.absolute(), there


async def moved(served, there: Path) -> None:
    await eventually(lambda: home(served) == there.name and not served.logs.futures, "the log has moved")


async def test_a_log_moves_byte_for_byte_while_it_is_appended_to(served, directories):
    here, there = directories
    append(served, 300)
    client = await served.client()
    assert await codes(client, to(there)) == {("t", 0): ErrorCode.NONE}
    while home(served) != there.name:
        append(served, 5)
        before = content(served)
        await served.delayed_fetches.wait([T_0], 1)
    assert content(served)[: len(before)] == before
    append(served, 20)
    hosted = served.replicas.get("t", 0)
    assert hosted.log is served.logs.get(T_0)
    assert hosted.partition.high_watermark == hosted.log.log_end_offset
    assert [segment.next_offset for segment in hosted.log.segments][-1] == hosted.log.log_end_offset
    await eventually(lambda: not list(here.glob("t-0*")), "the old directory is freed")
    assert await described(client) == {here.name: [], there.name: [("t", 0, False, 0)]}


async def test_a_copy_under_way_is_shown_with_its_lag_and_a_rate_of_zero_holds_it(served, directories):
    here, there = directories
    append(served, 300)
    set_rate(served, 0)
    client = await served.client()
    await codes(client, to(there))
    assert await described(client) == {here.name: [("t", 0, False, 0)], there.name: [("t", 0, True, 300)]}
    assert served.logs.get(T_0).is_being_copied
    set_rate(served)
    await moved(served, there)


@pytest.fixture
async def held(served, directories):
    """A move that has begun and copies nothing before `release`."""
    append(served, 300)
    set_rate(served, 0)
    await codes(await served.client(), to(directories[1]))

    def release():
        set_rate(served)

    return release


async def test_to_ask_for_where_it_is_calls_the_move_off(served, directories, held):
    here, there = directories
    assert await codes(await served.client(), to(here)) == {("t", 0): ErrorCode.NONE}
    held()
    assert not served.logs.futures
    assert not served.logs.get(T_0).is_being_copied
    await eventually(lambda: not list(there.glob("t-0*")), "nothing is left of the copy")
    assert home(served) == here.name


async def test_who_is_deleted_meanwhile_leaves_nothing(served, directories, held):
    await stop_replicas(served.replicas, [StoppedPartition(T_0, is_deletion=True, leader_epoch=-1)])
    held()
    for directory in directories:
        await eventually(lambda directory=directory: not list(directory.glob("t-0*")), "all is gone")
    assert not served.logs.futures


async def test_who_is_stopped_meanwhile_moves_when_it_is_back(served, directories, held):
    await stop_replicas(served.replicas, [StoppedPartition(T_0, is_deletion=False, leader_epoch=-1)])
    held()
    before = content(served)
    await served.delayed_fetches.wait([T_0], 300)
    assert home(served) == directories[0].name
    served.lead("t")
    await moved(served, directories[1])
    assert content(served) == before


async def test_retention_may_be_faster_than_the_copy(served, directories, held):
    log = served.logs.get(T_0)
    log.delete_records(290, 300)
    held()
    await moved(served, directories[1])
    assert (served.logs.get(T_0).log_start_offset, served.logs.get(T_0).log_end_offset) == (290, 300)


async def test_what_is_cut_is_cut_in_the_copy_too(served, directories):
    """A follower's log is cut and goes on under another epoch; offsets alone would not tell."""
    append(served, 300)
    set_rate(served, 200_000)
    client = await served.client()
    await codes(client, to(directories[1]))
    await eventually(lambda: served.logs.futures[T_0].log.log_end_offset > 100, "some of it is copied")
    log = served.logs.get(T_0)
    log.truncate_to(50)
    for place in range(400):
        log.append(build_batch([Record(0, 1_000, b"%d" % place, b"other")]), 7)
    wanted = content(served)
    set_rate(served)
    await moved(served, directories[1])
    assert content(served) == wanted
    assert served.logs.get(T_0).leader_epochs.entries == log.leader_epochs.entries


async def test_an_epoch_without_records_moves_too(served, directories):
    served.logs.get(T_0).begin_leader_epoch(9)
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    assert served.logs.get(T_0).leader_epochs.latest_epoch == 9


async def test_where_epochs_began_moves_with_a_log_whose_compaction_took_their_first_records(served, directories):
    """Else the replica, once it leads, would let followers keep there what nobody has committed."""
    append(served, 30)
    log = served.logs.get(T_0)
    epoch = log.leader_epochs.latest_epoch
    log.begin_leader_epoch(epoch + 1)
    for _ in range(30):
        log.append(build_batch([Record(0, 1_000, None, b"v" * 1_000)]), epoch + 1)
    thin_out(log)
    known = log.leader_epochs.entries
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    assert served.logs.get(T_0).leader_epochs.entries == known
    assert known[-1] == (epoch + 1, 30)


async def test_producers_that_were_promised_an_fsync_get_it_of_the_log_that_counts(served, directories):
    log = served.logs.get(T_0)
    log.config = LogConfig(flush_messages=1)
    await codes(await served.client(), to(directories[1]))
    flushes = served.replicas.logs.flushes
    while home(served) != directories[1].name:
        append(served, 1)
        await served.replicas.flushed(T_0)
        counts = served.logs.get(T_0)
        assert counts.recovery_point == counts.log_end_offset
    append(served, 1)
    await served.replicas.flushed(T_0)
    assert served.logs.get(T_0).recovery_point == served.logs.get(T_0).log_end_offset
    assert not flushes.under_way


async def test_the_copys_disk_fails_and_the_log_stays(served, directories, held):
    directory = served.logs.directory_at(str(directories[1]))
    served.logs._fail(directory, OSError(5, "Input/output error"))
    held()
    await eventually(lambda: not served.logs.futures, "the move is given up")
    append(served, 1)
    assert home(served) == directories[0].name
    client = await served.client()
    assert await codes(client, to(directories[1])) == {("t", 0): ErrorCode.KAFKA_STORAGE_ERROR}


async def test_the_logs_disk_fails_and_the_copy_is_not_taken_for_it(served, directories, held):
    served.logs._fail(served.logs.directory_at(str(directories[0])), OSError(5, "Input/output error"))
    served.replicas.resign_offline()
    held()
    await served.delayed_fetches.wait([T_0], 300)
    assert served.logs.get(T_0).is_offline
    assert list(directories[1].glob("t-0.*-future")), "an operator may want it"
    client = await served.client()
    assert await codes(client, to(directories[1])) == {("t", 0): ErrorCode.KAFKA_STORAGE_ERROR}


async def test_what_is_nowhere_yet_is_made_where_it_was_asked_for(served, directories):
    _, there = directories
    client = await served.client()
    served.tell_of("elsewhere")
    for path, topic, wanted in (
        (there, "elsewhere", ErrorCode.REPLICA_NOT_AVAILABLE),
        (there, "new", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (there / "not", "t", ErrorCode.LOG_DIR_NOT_FOUND),
        (there, "x" * 249, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (there, "no/topic", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ):
        request = to(path, topic=topic)
        if topic.startswith("x"):
            wanted = ErrorCode.INVALID_TOPIC_EXCEPTION  # with its suffix its directory's name would be too long
        assert await codes(client, request) == {(topic, 0): wanted}
    served.lead("new", topic_id=UUID(int=78))
    assert served.logs.get(TopicPartition("new", 0)).directory.parent.absolute() == there


async def test_a_move_that_ends_lets_compaction_look_at_the_log_again(served, directories):
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    assert not served.logs.get(T_0).is_being_copied


async def test_a_topic_that_is_configured_anew_just_then_keeps_that(served, directories, monkeypatch):
    anew, prepare = LogConfig(segment_bytes=12_345), served.logs.prepare_replacement

    def prepare_late(partition: TopicPartition, high_watermark: int) -> None:
        prepare(partition, high_watermark)
        served.logs.get(T_0).config = anew

    monkeypatch.setattr(served.logs, "prepare_replacement", prepare_late)
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    assert served.logs.get(T_0).config is anew


async def test_whoever_watches_for_full_directories_hears_of_a_log_that_has_moved(served, directories):
    homes = []
    served.log_dir_moves.on_moved = lambda: homes.append(home(served))
    append(served, 3)
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    await eventually(lambda: homes == [directories[1].name], "told of, once the log is there")


async def test_a_deletion_that_was_noted_in_the_directory_left_is_noted_in_the_new_one(
    served, directories, monkeypatch
):
    """It came between the last note and the exchange: a kill must not bring its records back."""
    prepare, deletions = served.logs.prepare_replacement, iter([2])

    def prepare_early(partition: TopicPartition, high_watermark: int) -> None:
        prepare(partition, high_watermark)
        for offset in deletions:
            served.logs.note_log_starts(directories[0], {partition: offset})
            served.logs.get(partition).delete_records(offset, high_watermark)

    monkeypatch.setattr(served.logs, "prepare_replacement", prepare_early)
    append(served, 3)
    await codes(await served.client(), to(directories[1]))
    await moved(served, directories[1])
    assert served.logs.noted_log_start(T_0) == served.logs.get(T_0).log_start_offset == 2
