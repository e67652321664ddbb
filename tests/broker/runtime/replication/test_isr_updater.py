"""The ISR as a leader writes it: one change at a time, and nobody who caught up meanwhile is forgotten."""

import asyncio
from types import SimpleNamespace

import pytest

from broker.common.clock import SystemClock
from broker.common.cluster import LeaderAndIsr
from broker.common.types import TopicPartition
from broker.replication.partition import LeadershipState, ReplicaPartition
from broker.runtime.replication import isr_updater
from broker.runtime.replication.isr_updater import IsrUpdater
from broker.zookeeper.errors import MalformedZnode
from tests.eventually import eventually
from tests.manual_clock import ManualClock

ME, NEAR, FAR = 1, 2, 3
PARTITION = TopicPartition("t", 0)


class Store:
    """ZooKeeper's part; a write stands when the test lets it."""

    def __init__(self):
        self.written: list[tuple[int, ...]] = []
        self.elrs: list[tuple[int, ...]] = []
        self.go_on = asyncio.Event()
        self.registered = {NEAR: 20, FAR: 30}
        self.announced: set[TopicPartition] = set()

    async def registered_epoch(self, replica_id: int) -> int:
        return self.registered[replica_id]

    async def state(self, _partition) -> LeaderAndIsr:
        return LeaderAndIsr(ME, 1, (ME,), controller_epoch=1, zk_version=0)

    async def write_isr(self, _partition, wanted: LeaderAndIsr) -> LeaderAndIsr:
        self.written.append(wanted.isr)
        self.elrs.append(wanted.elr)
        await self.go_on.wait()
        return wanted.at_version(wanted.zk_version + 1)

    async def announce_isr_changes(self, changed) -> None:
        self.announced |= changed


class Replicas(list):
    def __init__(self, hosted):
        super().__init__(hosted)
        self.on_role, self.on_config = [], []

    def isr_written(self, hosted, isr, zk_version, elr=()) -> None:
        hosted.partition.isr_written(isr, zk_version, elr)


@pytest.fixture
def led():
    partition = ReplicaPartition(PARTITION, ME)
    role = LeadershipState(ME, 1, (ME,), (ME, NEAR, FAR), controller_epoch=1, zk_version=0)
    partition.apply(role, log_end_offset=0)
    return SimpleNamespace(partition=partition, log=SimpleNamespace(is_offline=False))


async def test_a_follower_that_caught_up_during_a_write_joins_with_the_next(led):
    store = Store()
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=60_000, clock=SystemClock())
    led.partition.record_fetch(NEAR, 0, now_ms=1, broker_epoch=20)
    updater.consider(led, NEAR)
    await eventually(lambda: store.written, "the first change is being written")
    led.partition.record_fetch(FAR, 0, now_ms=2, broker_epoch=30)
    assert led.partition.isr_with(FAR) is None, "one change is under way"
    store.go_on.set()
    await eventually(lambda: led.partition.state.isr == (ME, NEAR, FAR), "both have joined")
    assert store.written == [(ME, NEAR), (ME, NEAR, FAR)]
    await updater.stop()


async def test_trap_07_a_follower_the_cluster_thinks_dead_joins_when_it_is_registered_again(led):
    store, live = Store(), set()
    store.go_on.set()
    updater = IsrUpdater(Replicas([led]), store, live.__contains__, lag_ms_max=10, clock=SystemClock())
    led.partition.record_fetch(NEAR, 0, now_ms=1, broker_epoch=20)
    updater.consider(led, NEAR)
    assert led.partition.pending_isr is None
    live.add(NEAR)
    updater.start()
    await eventually(lambda: led.partition.state.isr == (ME, NEAR), "it has joined, though it fetched nothing new")
    await updater.stop()


async def test_trap_07_followers_that_fell_silent_stay_out_while_nothing_more_is_committed(led):
    """Below min.insync.replicas the high watermark stands still, so that they go on holding all that is committed."""
    partition, store, clock = led.partition, Store(), ManualClock()
    store.go_on.set()
    partition.require_in_sync(2)
    partition.isr_written((ME, NEAR, FAR), 1)
    for follower, broker_epoch in store.registered.items():
        partition.record_fetch(follower, 0, now_ms=0, broker_epoch=broker_epoch)
    partition.record_append(10, now_ms=0)
    clock.advance(1_000)
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=10, clock=clock)
    updater.start()
    await eventually(lambda: partition.state.isr == (ME,), "both are counted out")
    await eventually(lambda: store.announced, "the controller is told")
    partition.record_fetch(FAR, 10, now_ms=1_000, broker_epoch=30)
    await eventually(lambda: partition.state.isr == (ME, FAR), "who fetches again is counted in")
    assert store.written == [(ME,), (ME, FAR)]
    await updater.stop()


async def test_trap_07_what_a_follower_held_before_it_registered_anew_counts_for_nothing(led):
    store = Store()
    store.go_on.set()
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=10, clock=SystemClock())
    led.partition.record_fetch(NEAR, 0, now_ms=1, broker_epoch=20)
    store.registered[NEAR] = 21
    updater.consider(led, NEAR)
    await eventually(lambda: led.partition.pending_isr is None, "it has been looked up")
    assert (store.written, led.partition.state.isr) == ([], (ME,))
    led.partition.record_fetch(NEAR, 0, now_ms=2, broker_epoch=21)
    updater.start()
    await eventually(lambda: led.partition.state.isr == (ME, NEAR), "it has said again what it holds, and joined")
    await updater.stop()


async def test_trap_09_leader_that_was_replaced_unawares_commits_nothing_by_counting_others_out(led):
    store = Replaced()
    led.partition.state = LeadershipState(ME, 1, (ME, NEAR), (ME, NEAR, FAR), controller_epoch=1, zk_version=0)
    led.partition.record_append(7, now_ms=1)
    clock = ManualClock()
    clock.advance(1_000)
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=10, clock=clock)
    updater.start()
    await eventually(lambda: store.written, "it has tried to count NEAR out, of whom it hears nothing")
    await eventually(lambda: store.announced, "it knows that it may not")
    assert (led.partition.state.isr, led.partition.high_watermark) == ((ME, NEAR), 0)
    await updater.stop()


async def test_trap_05_nothing_is_committed_without_a_follower_that_may_have_been_counted_in_and_elected(led):
    """The write stood, its answer was lost, and FAR was elected out of the ISR it had written."""
    partition, store = led.partition, Replaced()
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=60_000, clock=SystemClock())
    partition.isr_written((ME, NEAR), 0)
    partition.record_append(10)
    partition.record_fetch(NEAR, 10, now_ms=1, broker_epoch=20)
    partition.record_fetch(FAR, 10, now_ms=1, broker_epoch=30)
    assert partition.high_watermark == 10
    updater.consider(led, FAR)
    await eventually(lambda: store.announced == {PARTITION}, "the controller is to tell who leads")
    partition.record_append(20)
    partition.record_fetch(NEAR, 20, now_ms=2, broker_epoch=20)
    assert partition.high_watermark == 10, "FAR leads, and its log ends at 10"
    await updater.stop()


async def test_leader_that_is_told_of_a_later_term_wants_what_it_likes_again(led):
    partition, store = led.partition, Replaced()
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=60_000, clock=SystemClock())
    partition.record_fetch(NEAR, 0, now_ms=1, broker_epoch=20)
    updater.consider(led, NEAR)
    await eventually(lambda: store.announced == {PARTITION}, "it may not count NEAR in")
    partition.record_append(10)
    assert partition.high_watermark == 0
    state = LeadershipState(ME, 2, (ME,), (ME, NEAR, FAR), controller_epoch=2, zk_version=4)
    partition.apply(state, log_end_offset=10)
    assert (partition.pending_isr, partition.high_watermark) == (None, 10)
    partition.record_fetch(NEAR, 10, now_ms=2, broker_epoch=20)
    assert partition.isr_with(NEAR) == (ME, NEAR)
    await updater.stop()


class Replaced(Store):
    """There is a later term by now."""

    async def write_isr(self, _partition, wanted: LeaderAndIsr) -> LeaderAndIsr:
        self.written.append(wanted.isr)
        return LeaderAndIsr(NEAR, 2, (NEAR,), controller_epoch=2, zk_version=4)


async def test_a_partition_whose_isr_cannot_be_looked_at_keeps_no_other_waiting(led, monkeypatch):
    monkeypatch.setattr("broker.runtime.periodic.AFTER_FAILURE_S", 0)
    broken = SimpleNamespace(partition=SimpleNamespace(topic_partition=TopicPartition("broken", 0)))
    store, replicas = Store(), Replicas([broken, led])
    store.go_on.set()
    iterations = []

    def hosted():
        iterations.append(1)
        if len(iterations) == 1:
            raise RuntimeError("a defect")
        return list.__iter__(replicas)

    monkeypatch.setattr(Replicas, "__iter__", lambda _replicas: hosted(), raising=False)
    led.partition.state = LeadershipState(ME, 1, (ME, NEAR), (ME, NEAR, FAR), controller_epoch=1, zk_version=0)
    led.partition.record_append(7, now_ms=1)
    clock = ManualClock()
    clock.advance(1_000)
    updater = IsrUpdater(replicas, store, lambda _: True, lag_ms_max=10, clock=clock)
    updater.start()
    await eventually(lambda: store.written == [(ME,)], "NEAR is counted out")
    await updater.stop()


async def test_an_isr_whose_write_or_announcement_raises_unforeseen_is_written_and_announced_all_the_same(
    led, monkeypatch
):
    monkeypatch.setattr(isr_updater, "_TRY_AGAIN_S", 0)

    class Defective(Store):
        defects = [RuntimeError("a defect"), MalformedZnode("a state nobody can read"), None, RuntimeError("another")]

        def meet_one(self) -> None:
            if self.defects and (defect := self.defects.pop(0)):
                raise defect

        async def write_isr(self, partition, wanted):
            self.meet_one()
            return await super().write_isr(partition, wanted)

        async def announce_isr_changes(self, changed):
            self.meet_one()
            await super().announce_isr_changes(changed)

    store = Defective()
    store.go_on.set()
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=60_000, clock=SystemClock())
    led.partition.record_fetch(NEAR, 0, now_ms=1, broker_epoch=20)
    updater.consider(led, NEAR)
    await eventually(lambda: store.announced == {PARTITION}, "the controller is told")
    assert (led.partition.state.isr, led.partition.pending_isr) == ((ME, NEAR), None)
    assert not store.defects


@pytest.mark.parametrize("place", ["isr_without_laggards", "isr_written"])
async def test_what_nobody_foresaw_does_not_end_the_looking_nor_leave_a_change_undecided(led, monkeypatch, place):
    store, replicas = Store(), Replicas([led])
    store.go_on.set()
    led.partition.apply(LeadershipState(ME, 2, (ME, NEAR), (ME, NEAR, FAR), controller_epoch=1, zk_version=1), 0)
    owner = ReplicaPartition if place == "isr_without_laggards" else Replicas
    real, calls = getattr(owner, place), []

    def raising_at_first(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise RuntimeError("nobody foresaw this")
        return real(*arguments)

    monkeypatch.setattr(owner, place, raising_at_first)
    updater = IsrUpdater(replicas, store, lambda _: True, lag_ms_max=10, clock=SystemClock())
    updater.start()
    await eventually(lambda: led.partition.state.isr == (ME,), "who is late is counted out all the same")
    await updater.stop()


async def test_how_far_a_follower_may_lag_can_change_at_any_time(led):
    store, clock = Store(), ManualClock()
    store.go_on.set()
    led.partition.isr_written((ME, NEAR), 1)
    led.partition.record_append(7, now_ms=0)
    clock.advance(1_000)
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, lag_ms_max=60_000, clock=clock)
    updater._look_at(led, clock.monotonic_ms())
    assert led.partition.pending_isr is None
    updater.lag_ms_max = 100
    updater._look_at(led, clock.monotonic_ms())
    assert led.partition.pending_isr == (ME,)
    await updater.stop()


async def test_members_that_leave_an_isr_below_its_minimum_are_written_as_eligible_where_these_are_kept(led):
    partition, clock = led.partition, ManualClock()
    partition.require_in_sync(2)
    partition.isr_written((ME, NEAR), 1)
    partition.record_append(10)
    clock.advance(1_000)
    for is_kept, elr in ((False, ()), (True, (NEAR,))):
        store = Store()
        store.go_on.set()
        partition.isr_written((ME, NEAR), 1)
        updater = IsrUpdater(Replicas([led]), store, lambda _: False, 10, clock, lambda kept=is_kept: kept)
        updater.start()
        await eventually(lambda: partition.state.isr == (ME,), "it is counted out")
        assert (store.elrs, partition.state.elr) == ([elr], elr)
        await updater.stop()


async def test_an_elr_beside_an_isr_that_is_large_enough_is_cleared_and_nothing_is_committed_before(led):
    partition, store = led.partition, Store()
    partition.require_in_sync(2)
    partition.isr_written((ME,), 1, (NEAR,))
    partition.record_append(10)
    updater = IsrUpdater(Replicas([led]), store, lambda _: True, 60_000, SystemClock(), lambda: True)
    updater.clear_elr(led)
    assert partition.pending_isr is None, "the ISR is below its minimum"
    partition.require_in_sync(1)
    assert partition.high_watermark == 0
    updater.clear_elr(led)
    store.go_on.set()
    await eventually(lambda: partition.state.elr == (), "it is cleared")
    assert (store.written, store.elrs, partition.high_watermark) == ([(ME,)], [()], 10)
    await updater.stop()
