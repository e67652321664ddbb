"""A follower keeps what it truncates, if that may have been acknowledged: its leader has lost it, or never had it."""

import dataclasses
import errno

import pytest

from broker.records.batch import iterate_headers
from broker.runtime.replication import replica_fetchers
from tests.broker.runtime.replication.test_replica_fetchers import World, parted
from tests.eventually import eventually


@pytest.fixture
async def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.fetchers.close()
    await world.replicas.logs.idle()
    world.logs.shutdown()


def kept_offsets(world) -> list[list[int]]:
    """The offsets of the batches in each stray directory."""
    return [
        [header.base_offset for file in sorted(stray.glob("*.log")) for _, header in iterate_headers(file.read_bytes())]
        for stray in world.logs.strays
    ]


async def test_committed_records_that_the_leader_lacks_are_kept_and_others_are_not(world):
    world.answer([parted(0), parted(1)])
    await eventually(lambda: world.wire.asked_for.keys() >= {0, 1}, "they are asked for")
    assert kept_offsets(world) == [[2], [2]]
    world.replicas.get("t", 2).partition.high_watermark = 2
    world.answer([parted(2)])
    await eventually(lambda: 2 in world.wire.asked_for, "it is asked for")
    assert len(world.logs.strays) == world.logs.truncations_kept == 2


async def test_what_a_recovering_leader_lacks_is_kept_though_it_is_not_known_to_be_committed(world):
    hosted = world.replicas.get("t", 0)
    hosted.partition.high_watermark = 0
    hosted.partition.state = dataclasses.replace(hosted.partition.state, is_recovering=True)
    world.answer([parted(0)])
    await eventually(lambda: 0 in world.wire.asked_for, "it is asked for")
    assert kept_offsets(world) == [[2]]


async def test_a_truncation_that_could_not_keep_what_goes_is_tried_again_and_keeps_it_then(world, monkeypatch):
    monkeypatch.setattr(replica_fetchers, "_NOT_TAKEN_BACK_OFF_MS", 1)
    hosted = world.replicas.get("t", 0)
    with monkeypatch.context() as full:
        full.setattr("broker.log.kept_truncations.write_at", _no_room)
        world.answer([parted(0)])
        await eventually(lambda: world.wire.asked_for.get(0) == 3, "it is asked for again from where it was")
    assert (hosted.log.log_end_offset, hosted.partition.high_watermark, world.logs.strays) == (3, 3, frozenset())
    world.answer([])  # to the request that was under way meanwhile
    world.answer([parted(0)])
    await eventually(lambda: world.wire.asked_for.get(0) == 2, "it is asked for from its new end")
    assert kept_offsets(world) == [[2]]


def _no_room(*_arguments) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
