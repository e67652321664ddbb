"""When offsets are forgotten (KIP-211), and when a group is."""

import struct
from uuid import UUID

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicIdPartition, TopicPartition
from broker.coordinator.group import deleted_partitions
from broker.coordinator.group.deleted_partitions import DeletedPartitions
from broker.coordinator.group.group import GroupProposal
from tests.broker.coordinator.group.world import World, record_bytes

T0, U0 = ("t", 0), ("u", 0)
#: Of a topic, and of one that was made anew under its name.
OLD, NEW = UUID(int=1), UUID(int=2)
MINUTE_MS = 60_000
DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
CHECK_MS = 600_000


def subscription(*topics: str) -> bytes:
    encoded = b"".join(struct.pack(">h", len(topic)) + topic.encode() for topic in topics)
    return struct.pack(">hi", 1, len(topics)) + encoded + struct.pack(">i", -1) + b"of a later version"


def offsets(world: World, group_id: str = "g") -> set[tuple[str, int]]:
    return {tuple(partition) for partition, _ in world.coordinator.offsets.of_group(group_id)}


def test_trap_29_simple_consumer_is_measured_by_its_last_commit():
    world = World()
    world.commit("g", "-", {T0: 1, U0: 1})
    world.advance(DAY_MS)
    world.commit("g", "-", {T0: 2})
    world.advance(WEEK_MS - DAY_MS - 1)
    assert offsets(world) == {T0, U0}
    world.advance(CHECK_MS)
    assert offsets(world) == {T0}
    world.advance(DAY_MS)
    assert offsets(world) == set()
    assert world.describe("g").group_state == "Dead"
    assert world.log[-1].value is None


def test_a_wall_clock_that_is_a_month_ahead_by_mistake_forgets_no_offsets():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.wall_ahead_ms += 30 * DAY_MS
    world.jump_ms = 30 * DAY_MS
    world.advance(2 * CHECK_MS)
    assert offsets(world) == {T0}
    world.jump_ms = 0  # it was right
    world.advance(CHECK_MS)
    assert offsets(world) == set()


def test_trap_29_group_is_measured_by_when_it_became_empty():
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, metadata=subscription("t"))
    world.commit("g", "a", {T0: 1})
    world.advance(DAY_MS)  # the session is over in between
    assert world.describe("g").group_state == "Empty"
    world.advance(WEEK_MS - DAY_MS)
    assert offsets(world) == {T0}
    world.advance(1_800_000 + CHECK_MS)
    assert offsets(world) == set()
    assert world.describe("g").group_state == "Dead"
    world.restart()
    assert world.coordinator.groups == {}


def test_trap_29_offsets_of_members_do_not_expire_but_those_of_topics_no_longer_read_do():
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, metadata=subscription("t"))
    world.commit("g", "a", {T0: 1, U0: 1})
    for _ in range(2 * 7 * 24 * 4):
        world.heartbeat("g", "a")
        world.advance(900_000)
    assert world.describe("g").group_state == "Stable"
    assert offsets(world) == {T0}


@pytest.mark.parametrize(
    ("protocol_type", "metadata"),
    [("connect", subscription("t")), ("consumer", b"\x00\x01\x00"), ("consumer", struct.pack(">hi", 1, -1))],
)
def test_trap_28_where_what_members_read_is_not_ours_to_know_nothing_expires(protocol_type, metadata):
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, metadata=metadata, protocol_type=protocol_type)
    world.commit("g", "a", {U0: 1})
    for _ in range(8 * 24 * 4):
        world.heartbeat("g", "a")
        world.advance(900_000)
    assert offsets(world) == {U0}


def test_retention_an_old_client_chose_is_kept_to():
    world = World()
    world.commit("g", "-", {T0: 1}, version=4, retention_time_ms=DAY_MS)
    world.commit("g", "-", {U0: 1}, version=4, retention_time_ms=2 * WEEK_MS)
    world.advance(DAY_MS + CHECK_MS)
    assert offsets(world) == {U0}
    world.advance(WEEK_MS + CHECK_MS)
    assert offsets(world) == {U0}
    world.advance(WEEK_MS)
    assert offsets(world) == set()


def test_empty_group_without_offsets_goes_with_the_next_check():
    world = World()
    world.stable_group("g", "a")
    world.leave("g", "a")
    assert world.describe("g").group_state == "Empty"
    world.advance(CHECK_MS)
    assert world.describe("g").group_state == "Dead"


def test_group_somebody_is_about_to_join_stays():
    world = World()
    world.stable_group("g", "a")
    world.leave("g", "a")
    world.advance(CHECK_MS - 100 - world.now_ms)
    world.join("g", "b")
    world.advance(200)
    assert world.join("g", "b").is_parked


def test_offset_an_open_transaction_replaces_does_not_expire_nor_does_its_group():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.txn_commit("g", 7, {T0: 5})
    world.advance(WEEK_MS + CHECK_MS)
    assert offsets(world) == {T0}
    world.end_transaction(7, is_commit=False)
    world.advance(CHECK_MS)
    assert world.describe("g").group_state == "Dead"


def test_trap_29_offsets_of_deleted_partitions_go_at_once_whoever_is_in_the_group():
    world = World()
    world.stable_group("g", "a", metadata=subscription("t"))
    world.commit("g", "a", {T0: 1, ("t", 1): 1, U0: 1})
    world.commit("h", "-", {T0: 1})
    world.delete_partitions(T0, ("t", 1))
    world.advance(0)
    assert offsets(world) == {U0}
    assert world.describe("g").group_state == "Stable"
    assert world.describe("h").group_state == "Dead"


def test_offset_committed_for_a_successor_of_the_same_name_stays():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.delete_partitions(T0)
    world.now_ms += 1
    world.commit("h", "-", {T0: 1})
    world.advance(0)
    assert offsets(world) == set()
    assert offsets(world, "h") == {T0}


def test_offsets_of_a_deleted_topic_go_soon_though_their_tombstones_were_refused():
    """They would be those of the next topic of that name, whose first records its consumers would leave out."""
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, metadata=subscription("t"))
    world.commit("g", "a", {T0: 1})
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    world.delete_partitions(T0)
    world.advance(0)
    assert offsets(world) == {T0}
    world.advance(CHECK_MS // 10)
    assert offsets(world) == set()


def test_offsets_of_a_deleted_topic_go_though_their_group_had_a_record_on_its_way():
    world = World()
    world.stable_group("g", "a", session_ms=1_800_000, metadata=subscription("t"))
    world.commit("g", "a", {T0: 1})
    group = world.coordinator.groups["g"]
    group.proposal = GroupProposal(group.metadata, None)
    world.delete_partitions(T0)
    world.carry_out(world.coordinator.tick(world.now_ms))
    group.proposal = None
    world.advance(CHECK_MS // 10)
    assert offsets(world) == set()


def test_offsets_of_a_topic_that_was_deleted_while_they_were_loaded_go():
    world = World()
    world.topic_ids = {"t": OLD}
    world.commit("g", "-", {T0: 1, U0: 1})
    world.topic_ids = {}
    world.deleted.note([TopicIdPartition(TopicPartition(*T0), OLD)], world.wall_now_ms())
    world.restart()
    world.advance(0)
    assert offsets(world) == {U0}


@pytest.mark.parametrize("slow_ms", [-WEEK_MS // 7, -MINUTE_MS, 0, MINUTE_MS, WEEK_MS // 7])
def test_an_offset_of_a_topic_made_anew_stays_when_its_coordinator_moves_to_a_broker_with_another_clock(slow_ms):
    """The other broker heard of the deletion, and by its clock the offset may have been committed before that."""
    world = World()
    world.topic_ids = {"t": OLD}
    world.commit("old", "-", {T0: 1})
    world.deleted.note([TopicIdPartition(TopicPartition(*T0), OLD)], world.wall_now_ms())
    world.topic_ids = {"t": NEW}
    world.wall_ahead_ms -= slow_ms
    world.commit("new", "-", {T0: 1})
    world.txn_commit("new in a transaction", 7, {T0: 2})
    world.end_transaction(7, is_commit=True)
    world.wall_ahead_ms += slow_ms
    world.restart()
    world.advance(CHECK_MS)
    assert [offsets(world, group) for group in ("old", "new", "new in a transaction")] == [set(), {T0}, {T0}]


def test_a_deletion_that_is_heard_of_late_takes_offsets_of_the_deleted_topic_alone():
    world = World()
    world.topic_ids = {"t": OLD}
    world.commit("old", "-", {T0: 1})
    world.topic_ids = {"t": NEW}
    world.commit("new", "-", {T0: 1})
    world.topic_ids = {"t": OLD}
    world.delete_partitions(T0)
    world.advance(CHECK_MS)
    assert [offsets(world, group) for group in ("old", "new")] == [set(), {T0}]


@pytest.mark.parametrize("is_moved", [False, True])
def test_an_offset_stays_that_is_committed_after_a_topic_came_back_with_its_id(is_moved):
    """Its znode was removed by hand, or had another id for a while, and was written from a backup."""
    world = World()
    world.topic_ids = {"t": OLD}
    world.commit("old", "-", {T0: 1})
    world.delete_partitions(T0)
    world.advance(0)
    world.commit("new", "-", {T0: 1})
    if is_moved:
        world.restart()
    world.advance(2 * CHECK_MS)
    assert [offsets(world, group) for group in ("old", "new")] == [set(), {T0}]
    world.topic_ids = {}
    world.delete_partitions(T0)
    world.advance(0)
    assert offsets(world, "new") == set()


def committed(world: World, group_id: str = "g") -> int:
    """What OffsetFetch says of t-0."""
    return world.fetch(group_id, {"t": [0]}).response.groups[0].topics[0].partitions[0].committed_offset


@pytest.mark.parametrize("is_commit", [True, False])
def test_the_new_topics_pending_offset_outlives_the_old_topics_committed_one(is_commit):
    """A tombstone would take both: it has the key of both, and the log cleaner knows nothing else."""
    world = World()
    world.topic_ids = {"t": OLD}
    world.commit("g", "-", {T0: 50})
    world.topic_ids = {"t": NEW}
    world.txn_commit("g", 7, {T0: 2})
    world.delete_partitions(T0, topic_id=OLD)
    world.advance(CHECK_MS)
    assert committed(world) == -1, "the old topic's offset is not told"
    assert not [entry for entry in world.log if entry.value is None]
    world.end_transaction(7, is_commit=is_commit)
    world.advance(0)
    assert committed(world) == (2 if is_commit else -1)
    assert offsets(world) == ({T0} if is_commit else set())
    world.restart()
    assert committed(world) == (2 if is_commit else -1)


def test_the_old_topics_pending_offset_is_never_told_of_as_the_new_topics():
    world = World()
    world.topic_ids = {"t": OLD}
    world.txn_commit("g", 7, {T0: 50})
    world.txn_commit("other", 7, {U0: 5})
    world.delete_partitions(T0)
    world.topic_ids = {"t": NEW}
    world.advance(CHECK_MS)
    world.end_transaction(7, is_commit=True)
    assert committed(world) == -1
    world.advance(0)
    assert (offsets(world), offsets(world, "other")) == (set(), {U0})
    world.restart()
    assert committed(world) == -1


@pytest.mark.parametrize(("age_ms", "is_left"), [(2 * MINUTE_MS, True), (20 * MINUTE_MS, False)])
def test_an_offset_without_a_topic_id_stays_where_clocks_may_have_put_it_before_a_deletion(age_ms, is_left):
    """Kafka has written it, or an earlier version; when it was loaded the deletion had been heard of."""
    world = World()
    world.commit("g", "-", {T0: 1})
    world.now_ms += age_ms
    world.deleted.note([TopicIdPartition(TopicPartition(*T0), OLD)], world.wall_now_ms())
    world.restart()
    world.advance(0)
    assert offsets(world) == ({T0} if is_left else set())


@pytest.mark.parametrize("is_in_transaction", [False, True])
def test_offsets_without_topic_ids_are_told_apart_by_their_order_though_the_clock_is_set_back(is_in_transaction):
    world = World()
    world.commit("old", "-", {T0: 1})
    world.delete_partitions(T0)
    world.wall_ahead_ms -= MINUTE_MS
    if is_in_transaction:
        world.txn_commit("new", 7, {T0: 1})
        world.end_transaction(7, is_commit=True)
    else:
        world.commit("new", "-", {T0: 1})
    world.advance(2 * CHECK_MS)
    assert [offsets(world, group) for group in ("old", "new")] == [set(), {T0}]
    world.delete_partitions(T0)
    world.advance(0)
    assert offsets(world, "new") == set()


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_pending_offset_without_a_topic_id_makes_none_newer_that_was_committed_before_the_deletion(is_commit):
    world = World()
    world.commit("g", "-", {T0: 50})
    world.delete_partitions(T0)
    world.txn_commit("g", 7, {T0: 2})
    assert committed(world) == -1, "the deleted topic's offset is not told"
    world.end_transaction(7, is_commit=is_commit)
    world.advance(CHECK_MS)
    assert committed(world) == (2 if is_commit else -1)
    assert offsets(world) == ({T0} if is_commit else set())


def test_a_transaction_that_commits_again_and_again_leaves_no_more_notes_than_it_has_offsets():
    world = World()
    world.delete_partitions(T0)
    for offset in range(50):
        world.txn_commit("g", 7, {T0: offset})
    world.end_transaction(7, is_commit=True)
    assert committed(world) == 49
    assert all(len(notes) < 10 for notes in world.coordinator.offsets.outdated._stored_after.values())


def test_for_a_deletion_only_groups_with_offsets_of_its_topic_are_looked_at(monkeypatch):
    world, seen = World(), []
    for index in range(50):
        world.commit(f"g{index}", "-", {U0: 1})
    world.commit("busy", "-", {T0: 1})
    world.commit("g", "-", {T0: 1})
    count = world.coordinator.offsets.count
    monkeypatch.setattr(world.coordinator.offsets, "count", lambda group: seen.append(group) or count(group))
    world.coordinator.groups["busy"].proposal = GroupProposal(world.coordinator.groups["busy"].metadata, None)
    world.delete_partitions(T0)
    for _ in range(3):
        world.carry_out(world.coordinator.tick(world.now_ms))
        world.now_ms += 1_000
    assert seen == ["g"]
    world.coordinator.groups["busy"].proposal = None
    world.advance(1_000)
    assert seen == ["g", "busy"]
    assert offsets(world, "busy") == set()


@pytest.mark.parametrize(
    ("now_ms", "remembered"),
    [(3_601_000, [True, True]), (3_601_001, [False, True]), (3_600_999, [True, False]), (0, [False, False])],
)
def test_a_deletion_is_remembered_for_an_hour_unless_the_clock_is_set_back_behind_it(now_ms, remembered):
    deleted = DeletedPartitions()
    deleted.note([TopicIdPartition(TopicPartition(*T0), OLD)], 1_000)
    deleted.note([TopicIdPartition(TopicPartition(*U0), NEW)], 3_601_000)
    deleted.forget_others_than_of_the_last_hour(now_ms)
    assert [TopicPartition(*item) in deleted for item in (T0, U0)] == remembered
    assert [deleted.was_deleted(topic_id) for topic_id in (OLD, NEW)] == remembered


def test_deletions_are_remembered_for_an_hour_though_the_clock_was_set_back_between_them():
    deleted, partitions = DeletedPartitions(), [TopicPartition(*item) for item in (T0, U0, ("v", 0))]
    for partition, wall_ms in zip(partitions, (2_000, 1_000, 3_000), strict=True):
        deleted.note([TopicIdPartition(partition, OLD)], wall_ms)
    deleted.forget_others_than_of_the_last_hour(3_601_500)
    assert [partition in deleted for partition in partitions] == [True, False, True]
    assert deleted.topics() == {"t": 1, "v": 1}


def test_a_look_at_what_is_too_old_does_not_look_at_all_deletions():
    deleted = DeletedPartitions()
    for index in range(500):
        deleted.note([TopicIdPartition(TopicPartition("t", index), UUID(int=index + 1))], index)
    deleted._last = seen = CountedLookUps(deleted._last)
    deleted.forget_others_than_of_the_last_hour(3_600_003)
    assert (len(deleted._last), seen.count) == (497, 3 + 1)


class CountedLookUps(dict):
    count = 0

    def __getitem__(self, key):
        self.count += 1
        return super().__getitem__(key)


def test_of_too_many_deletions_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(deleted_partitions, "DELETED_PARTITIONS_MAX", 3)
    deleted, partitions = DeletedPartitions(), [TopicIdPartition(TopicPartition("t", index)) for index in range(5)]
    deleted.note(partitions[:3], 1)
    deleted.note([*partitions[3:], partitions[0]], 2)
    assert [partition.partition in deleted for partition in partitions] == [True, False, False, True, True]


def test_many_offsets_expire_in_slices_each_small_enough_for_a_batch():
    world = World()
    for group in range(6):
        world.commit(f"g{group}", "-", {("t", index): 1 for index in range(100)})
    world.commit("giant", "-", {("t", index): 1 for index in range(1_200)})
    world.outcomes.clear()
    world.advance(WEEK_MS + CHECK_MS)
    assert max(len(outcome.records) for outcome in world.outcomes) <= 500
    assert world.coordinator.groups == {}


def test_a_huge_group_is_looked_at_in_slices_and_each_offset_once(monkeypatch):
    """All of the topic's offsets are behind those that stay."""
    world, seen = World(), []
    world.commit("g", "-", {("u", index): 1 for index in range(5_000)})
    world.commit("g", "-", {("t", index): 1 for index in range(2_000)})
    committed_for = world.coordinator.offsets.committed_for

    def counted(key):
        seen.append(key)
        return committed_for(key)

    monkeypatch.setattr(world.coordinator.offsets, "committed_for", counted)
    world.delete_partitions(*(("t", index) for index in range(2_000)))
    looks = []
    while len(offsets(world)) > 5_000:
        before = len(seen)
        world.carry_out(world.coordinator.tick(world.now_ms))
        looks.append(len(seen) - before)
    assert (max(looks) <= 2_000, sum(looks)) == (True, 7_000)


def test_a_deletion_during_a_look_at_a_huge_group_has_it_looked_at_from_the_beginning():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.commit("g", "-", {("u", index): 1 for index in range(2_500)})
    world.delete_partitions(("u", 2_499))
    world.carry_out(world.coordinator.tick(world.now_ms))
    world.delete_partitions(T0)
    world.advance(0)
    assert not {T0, ("u", 2_499)} & offsets(world)


def test_an_offset_that_went_between_two_looks_at_its_group_is_passed_over():
    world = World()
    world.commit("g", "-", {("u", index): 1 for index in range(2_500)})
    world.commit("g", "-", {T0: 1, ("v", 0): 1})
    world.delete_partitions(T0, ("v", 0))
    world.carry_out(world.coordinator.tick(world.now_ms))
    world.delete_offsets("g", {"t": [0]})
    written = len(world.log)
    world.advance(0)
    assert (len(world.log) - written, T0 in offsets(world), ("v", 0) in offsets(world)) == (1, False, False)


def test_offsets_of_groups_with_long_names_expire_in_batches_that_any_topic_takes():
    world = World()
    for group in range(4):
        world.commit(f"{group}" + "x" * 1_000, "-", {("t", index): 1 for index in range(200)})
    world.commit("g", "-", {T0: 1})
    world.outcomes.clear()
    world.advance(WEEK_MS + CHECK_MS)
    assert (
        max(record_bytes(outcome) for outcome in world.outcomes) < 512 * 1024 < sum(map(record_bytes, world.outcomes))
    )
    assert world.coordinator.groups == {}


def test_one_record_that_fills_a_batch_goes_alone(monkeypatch):
    monkeypatch.setattr("broker.coordinator.outcome.RECORD_BYTES_PER_TICK", 1)
    world = World()
    world.commit("g", "-", {T0: 1, U0: 1})
    world.outcomes.clear()
    world.advance(WEEK_MS + CHECK_MS)
    assert [len(outcome.records) for outcome in world.outcomes if outcome.records] == [1, 1]
    assert world.coordinator.groups == {}


def test_part_of_a_group_that_cannot_be_written_is_not_tried_again_at_once():
    world = World()
    world.commit("g", "-", {("t", index): 1 for index in range(1_200)})
    world.now_ms = WEEK_MS
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    world.carry_out(world.coordinator.tick(world.now_ms))
    assert world.coordinator.next_deadline_ms() == WEEK_MS + CHECK_MS
    world.advance(CHECK_MS)
    assert world.coordinator.groups == {}


def test_expiry_that_cannot_be_written_comes_again_with_the_next_check():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.now_ms = WEEK_MS
    world.append_error = ErrorCode.NOT_ENOUGH_REPLICAS
    world.carry_out(world.coordinator.tick(world.now_ms))
    assert offsets(world) == {T0}
    world.advance(CHECK_MS)
    assert offsets(world) == set()


# -- OffsetDelete -----------------------------------------------------------------------------------------------------


def test_offsets_of_an_empty_group_are_deleted_one_by_one():
    world = World()
    world.commit("g", "-", {T0: 1, ("t", 1): 1, U0: 1})
    sent = world.delete_offsets("g", {"t": [0], "v": [0]})
    assert sent.error is ErrorCode.NONE
    assert sent.errors == {T0: ErrorCode.NONE, ("v", 0): ErrorCode.NONE}
    assert offsets(world) == {("t", 1), U0}


def test_an_empty_group_goes_at_the_check_after_its_last_offset():
    world = World()
    world.stable_group("g", "a")
    world.commit("g", "a", {T0: 1, U0: 1})
    world.leave("g", "a")
    world.delete_offsets("g", {"t": [0]})
    assert world.describe("g").group_state == "Empty"
    world.delete_offsets("g", {"u": [0, 1]})
    assert world.describe("g").group_state == "Empty"
    world.advance(CHECK_MS)
    for _ in range(2):
        assert world.describe("g").group_state == "Dead"
        assert world.durable_state() == ({}, {})
        world.restart()


def test_offsets_of_topics_that_members_read_are_kept():
    world = World()
    world.stable_group("g", "a", metadata=subscription("t"))
    world.commit("g", "a", {T0: 1, U0: 1})
    sent = world.delete_offsets("g", {"t": [0], "u": [0]})
    assert sent.errors == {T0: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, U0: ErrorCode.NONE}
    assert offsets(world) == {T0}


def test_offsets_of_other_groups_with_members_are_kept():
    world = World()
    world.stable_group("g", "a", protocol_type="connect")
    assert world.delete_offsets("g", {"t": [0]}).error is ErrorCode.NON_EMPTY_GROUP
    assert world.delete_offsets("unheard-of", {"t": [0]}).error is ErrorCode.GROUP_ID_NOT_FOUND
    assert world.delete_offsets("", {"t": [0]}).error is ErrorCode.INVALID_GROUP_ID


def test_deleting_that_cannot_be_appended_deletes_nothing():
    world = World()
    world.commit("g", "-", {T0: 1})
    world.append_error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert world.delete_offsets("g", {"t": [0]}).error is ErrorCode.NOT_COORDINATOR
    assert offsets(world) == {T0}
