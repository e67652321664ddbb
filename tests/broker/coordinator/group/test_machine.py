"""Whatever clients, producers, transactions, deletions and fail-overs do, in any order: the coordinator says what a
slow reading of its log says.

The oracle knows one rule for an offset: of what is visible and was written after the last tombstone, the last counts.
"""

from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.group.records import GroupKey, OffsetKey, decode_group_value, decode_key, decode_offset_value
from broker.coordinator.group.states import GroupState
from tests.broker.coordinator.group.test_invariants import check_group
from tests.broker.coordinator.group.test_memory import held_by
from tests.broker.coordinator.group.world import LogMarker, World, durable_state, read
from tests.examples import examples

GROUPS = st.sampled_from(["g", "h"])
NAMES = st.sampled_from(["a", "b", "static"])
PRODUCERS = st.sampled_from([7, 8])
PARTITIONS = st.sampled_from([("t", 0), ("t", 1), ("u", 0)])
OFFSETS = st.integers(0, 1_000)
ERRORS = st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.MESSAGE_TOO_LARGE])
UNSTABLE = object()


class _Written(NamedTuple):
    offset: int
    is_decided: bool
    is_visible: bool


class GroupsAgainstTheirLog(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World(GroupConfig(group_max_size=3))

    # -- members ------------------------------------------------------------------------------------------------------

    @rule(group=GROUPS, name=NAMES, is_new=st.booleans(), protocols=st.sampled_from([("range",), ("range", "sticky")]))
    def join(self, group, name, is_new, protocols) -> None:
        for _ in range(2):
            sent = self.world.join(
                group,
                name,
                protocols=protocols,
                instance_id="one" if name == "static" else None,
                member_id="" if is_new else None,
            )
            is_new = False
            if sent.error is not ErrorCode.MEMBER_ID_REQUIRED:
                return

    @rule(group=GROUPS)
    def assign(self, group) -> None:
        """Everybody syncs, the leader with an assignment for each."""
        for name in ("a", "b", "static"):
            self.world.sync(group, name, {name: f"for {name}" for name in ("a", "b", "static")})

    @rule(group=GROUPS, name=NAMES)
    def heartbeat(self, group, name) -> None:
        self.world.heartbeat(group, name)

    @rule(group=GROUPS, name=NAMES)
    def leave(self, group, name) -> None:
        self.world.leave(group, name)

    @rule(by_ms=st.sampled_from([0, 100, 3_000, 11_000, 700_000, 8 * 86_400_000]))
    def wait(self, by_ms) -> None:
        self.world.advance(by_ms)

    # -- offsets ------------------------------------------------------------------------------------------------------

    @rule(group=GROUPS, name=st.sampled_from(["a", "-"]), partition=PARTITIONS, offset=OFFSETS)
    def commit(self, group, name, partition, offset) -> None:
        self.world.commit(group, name, {partition: offset})

    @rule(group=GROUPS, producer=PRODUCERS, partition=PARTITIONS, offset=OFFSETS, version=st.sampled_from([0, 4]))
    def commit_in_transaction(self, group, producer, partition, offset, version) -> None:
        self.world.txn_commit(group, producer, {partition: offset}, version, name="nobody")

    @rule(producer=PRODUCERS, is_commit=st.booleans())
    def end_transaction(self, producer, is_commit) -> None:
        self.world.end_transaction(producer, is_commit)

    @rule(group=GROUPS, partition=PARTITIONS)
    def delete_offset(self, group, partition) -> None:
        topic, index = partition
        self.world.delete_offsets(group, {topic: [index]})

    @rule(partition=PARTITIONS)
    def delete_partition(self, partition) -> None:
        self.world.delete_partitions(partition)
        self.world.advance(0)

    @rule(group=GROUPS)
    def delete_group(self, group) -> None:
        pending = any(offset is UNSTABLE for (of, _), offset in self._expected().items() if of == group)
        error = self.world.delete(group)
        assert not (pending and error is ErrorCode.NONE)

    # -- what goes wrong ----------------------------------------------------------------------------------------------

    @rule(error=ERRORS)
    def fail_next_append(self, error) -> None:
        self.world.append_error = error

    @rule()
    def fail_over(self) -> None:
        self.world.restart()

    # -- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def offsets_are_those_of_the_log(self) -> None:
        expected = self._expected()
        for group in ("g", "h"):
            fetched = self.world.fetch(group, {"t": [0, 1], "u": [0]}, require_stable=True).response.groups[0].topics
            for topic in fetched:
                for partition in topic.partitions:
                    is_unstable = partition.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
                    committed = UNSTABLE if is_unstable else partition.committed_offset
                    wanted = expected.get((group, TopicPartition(topic.name, partition.partition_index)), -1)
                    assert committed == wanted

    @invariant()
    def another_coordinator_would_know_the_same(self) -> None:
        fresh = GroupCoordinator(self.world.config, str)
        read(self.world.log, fresh)
        assert durable_state(fresh) == self.world.durable_state()
        living = {g.group_id for g in self.world.coordinator.groups.values() if g.metadata is not None}
        assert living == {g.group_id for g in fresh.groups.values() if g.metadata is not None}

    @invariant()
    def what_is_held_is_what_was_counted(self) -> None:
        assert self.world.memory.bytes_held == held_by(self.world)

    @invariant()
    def groups_are_whole(self) -> None:
        for group in self.world.coordinator.groups.values():
            check_group(group)
            assert group.state is not GroupState.DEAD

    @invariant()
    def every_request_is_answered_or_parked_once(self) -> None:
        waiting = sorted(token for token, sent in self.world.sent.items() if sent.is_parked)
        groups = self.world.coordinator.groups.values()
        joins = [join.token for group in groups for join in group.awaiting_join.values()]
        syncs = [token for group in groups for token in group.awaiting_sync.values()]
        assert sorted(joins + syncs) == waiting

    @invariant()
    def generations_in_the_log_never_go_back(self) -> None:
        generations: dict[str, int] = {}
        for entry in self.world.log:
            if isinstance(entry, LogMarker) or not isinstance(key := decode_key(entry.key), GroupKey):
                continue
            if entry.value is None:
                generations.pop(key.group_id, None)
                continue
            generation_id = decode_group_value(entry.value).generation_id
            assert generation_id >= generations.get(key.group_id, 0)
            generations[key.group_id] = generation_id

    def _expected(self) -> dict:
        """(group, partition): the offset that counts, or UNSTABLE."""
        expected = {}
        for key, written in self._written().items():
            visible = [item.offset for item in written if item.is_visible]
            if not all(item.is_decided for item in written):
                expected[key] = UNSTABLE
            elif visible:
                expected[key] = visible[-1]
        return expected

    def _written(self) -> dict[OffsetKey, list[_Written]]:
        """What was written for each partition after its last tombstone, in order."""
        written: dict[OffsetKey, list[_Written]] = {}
        for at, entry in enumerate(self.world.log):
            key = None if isinstance(entry, LogMarker) else decode_key(entry.key)
            if not isinstance(key, OffsetKey):
                continue
            if entry.value is None:
                written.pop(key, None)
                continue
            ends = [e for e in self.world.log[at:] if isinstance(e, LogMarker) and e.producer_id == entry.producer_id]
            is_plain = entry.producer_id is None
            is_visible = is_plain or (bool(ends) and ends[0].is_commit)
            offset = decode_offset_value(entry.value).offset
            written.setdefault(key, []).append(_Written(offset, is_plain or bool(ends), is_visible))
        return written


GroupsAgainstTheirLog.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=40)
TestGroupsAgainstTheirLog = GroupsAgainstTheirLog.TestCase
