"""Logs that lack offsets: a follower begins anew with the leader's, and keeps what it has until that one answers."""

import pytest
from structlog.testing import capture_logs

from broker.common.types import TopicPartition
from broker.log.config import LogConfig
from broker.log.gaps import OffsetGap
from broker.protocol.messages.fetch import PartitionData
from tests.broker.runtime.replication.test_follower_cuts import kept_offsets
from tests.broker.runtime.replication.test_replica_fetchers import World, parted, records
from tests.eventually import eventually

T_0 = TopicPartition("t", 0)
HOLE, LOST_START = OffsetGap(1, 2), OffsetGap(0, 1, is_at_start=True)


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.fetchers.close()
    await world.replicas.logs.idle()
    world.logs.shutdown()


def follow(world: World, gap: OffsetGap) -> None:
    """As if the start of the broker had found the gap in the log, whose end is 3."""
    world.logs._gaps[T_0] = (gap,)
    world.replicas.get("t", 0).partition.high_watermark = 0  # the note of it is lost, too
    world.lead(leader=2, epoch=3)
    world.fetcher._send()
    world.answer([])
    world.fetcher._send()


def _parted_from_0() -> PartitionData:
    answer = parted(0)
    answer.log_start_offset = 0
    return answer


@pytest.mark.parametrize("gap", [HOLE, LOST_START], ids=["hole", "lost start"])
async def test_a_log_that_lacks_offsets_is_as_if_it_had_none_to_its_leader_which_counts_in_who_has_all(world, gap):
    follow(world, gap)
    assert world.wire.asked_for[0] == 0
    assert world.wire.asked_for[1] == 3, "another one is asked for from its end"


@pytest.mark.parametrize("answer", [records(0, 0), _parted_from_0()], ids=["records", "where both part"])
async def test_what_a_log_that_lacks_offsets_has_is_kept_when_it_is_begun_anew(world, answer):
    follow(world, HOLE)
    world.wire.requests.clear()
    with capture_logs() as lines:
        world.answer([answer])
        await eventually(lambda: world.wire.asked_for.get(0) == 0, "it is asked for again")
    assert world.replicas.get("t", 0).log.log_end_offset == 0, "what the answer brought is brought again"
    assert kept_offsets(world) == [[0, 1, 2]]
    assert world.logs.lost_offsets == {}
    assert [line["offsets"] for line in lines if "rebuilt from the leader" in line["event"]] == ["1 to 1"]
    assert [line["event"] for line in lines if line["log_level"] == "error"] == [], "its leader may lack nothing of it"
    assert world.logs.truncations_kept == 0
    world.answer([])
    world.answer([records(0, 0)])
    assert world.replicas.get("t", 0).log.log_end_offset == 1


async def test_a_log_that_lacks_offsets_stays_while_no_leader_answers(world):
    """Whoever was counted on may be dead, or come back without its log: then this one may be the best there is."""
    follow(world, HOLE)
    world.answer([PartitionData(partition_index=0, error_code=6, records=b"")])
    await world.requests_sent()
    assert (world.replicas.get("t", 0).log.log_end_offset, kept_offsets(world)) == (3, [])
    world.lead(leader=1, epoch=5)
    assert world.replicas.leader_log("t", 0).log.log_end_offset == 3
    assert world.logs.lost_offsets == {T_0: (HOLE,)}, "it is counted as long as the offsets are missing"


async def test_a_log_of_a_compacted_topic_is_followed_from_its_end(world):
    hosted = world.replicas.get("t", 0)
    hosted.log.config = LogConfig(cleanup_policy=("compact", "delete"))
    follow(world, HOLE)
    assert world.wire.asked_for[0] == 3
