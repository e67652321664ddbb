"""Random histories of groups with members of both protocols: consumers of either come, go, fall silent, are replaced.

However often the group changes its type, no partition is owned by two members of one generation, no committed offset is
lost, and when it is calm again every partition is owned, by one.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.group.config import GroupConfig
from tests.broker.coordinator.consumer_group.classic_consumer import ClassicConsumer
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld
from tests.broker.coordinator.group.test_memory import held_by
from tests.examples import examples

INDEXES = st.integers(0, 30)
SESSION_MS = ConsumerGroupConfig().group_consumer_session_timeout_ms
ERRORS = st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.RECORD_LIST_TOO_LARGE])


class MixedGroupMachine(RuleBasedStateMachine):
    @initialize(count=st.integers(1, 6), interval_ms=st.sampled_from([0, 1_000]))
    def begin(self, count, interval_ms):
        config = ConsumerGroupConfig(group_consumer_assignment_interval_ms=interval_ms)
        self.world = ConsumerWorld(GroupConfig(group_initial_rebalance_delay_ms=0), consumer_config=config)
        self.world.topics.put("t", count)
        self.members: list[Consumer | ClassicConsumer] = []
        self.made = 0
        self.committed: dict[int, int] = {}

    def _one(self, index):
        return self.members[index % len(self.members)]

    # -- members ------------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.members) < 5)
    @rule(is_static=st.booleans())
    def consumer_comes(self, is_static):
        self._come(Consumer, f"i{self.made}" if is_static else None)

    @precondition(lambda self: len(self.members) < 5)
    @rule(is_static=st.booleans(), is_cooperative=st.booleans())
    def classic_consumer_comes(self, is_static, is_cooperative):
        self._come(ClassicConsumer, f"i{self.made}" if is_static else None, is_cooperative=is_cooperative)

    def _come(self, kind, instance_id, **fields):
        self.made += 1
        self.members.append(kind(self.world, f"c{self.made}", "t", instance_id=instance_id, **fields))
        _step(self.members[-1])

    @precondition(lambda self: self.members)
    @rule(index=INDEXES)
    def step(self, index):
        _step(self._one(index))

    @precondition(lambda self: self.members)
    @rule()
    def all_step(self):
        for member in self.members:
            _step(member)

    @precondition(lambda self: self.members)
    @rule(index=INDEXES)
    def leave(self, index):
        member = self._one(index)
        member.owned = set()
        member.leave()
        self.members.remove(member)

    @precondition(lambda self: self.members)
    @rule(index=INDEXES)
    def be_killed(self, index):
        self.members.remove(self._one(index))

    @precondition(lambda self: any(_instance_of(member) for member in self.members))
    @rule(index=INDEXES, kind=st.sampled_from([Consumer, ClassicConsumer]))
    def static_member_is_replaced(self, index, kind):
        """Its process ends without a word, and another takes its place with either protocol."""
        static = [member for member in self.members if _instance_of(member)]
        member = static[index % len(static)]
        self.members.remove(member)
        if isinstance(member, Consumer):
            member.owned = set()
            member.leave(epoch=-2)
        self._come(kind, _instance_of(member))

    @precondition(lambda self: self.members)
    @rule(index=INDEXES, offset=st.integers(0, 1_000))
    def commit(self, index, offset):
        member = self._one(index)
        for _, partition in member.owned:
            fields = {"member_id": member.member_id, "generation_id_or_member_epoch": member.epoch}
            sent = self.world.commit("g", member.name, {("t", partition): offset}, **fields)
            if sent.errors["t", partition] is ErrorCode.NONE:
                self.committed[partition] = offset

    # -- the cluster --------------------------------------------------------------------------------------------------

    @rule(by_ms=st.sampled_from([500, 5_000, 11_000, SESSION_MS, 70_000]))
    def let_time_pass(self, by_ms):
        self.world.advance(by_ms)

    @rule()
    def restart_coordinator(self):
        self.world.restart()

    @rule(error=ERRORS)
    def fail_the_next_append(self, error):
        self.world.append_error = error

    # -- what always holds --------------------------------------------------------------------------------------------

    @invariant()
    def no_partition_has_two_owners(self):
        """Of members that the coordinator would let commit for it."""
        group = self.world.group()
        owners: dict = {}
        for member in self.members:
            known = group.members.get(member.member_id) if group else None
            if known is not None and known.epoch == member.epoch and known.is_classic == _is_classic(member):
                for partition in member.owned:
                    assert owners.setdefault(partition, member.member_id) == member.member_id
                    assert group.owner_of(*partition) == member.member_id

    @invariant()
    def group_is_of_one_type(self):
        classic = self.world.coordinator.groups.get("g")
        assert self.world.group() is None or classic is None or not (classic.members or classic.metadata)

    @invariant()
    def what_is_held_is_what_was_counted(self):
        group = self.world.group()
        of_consumers = 0
        if group is not None:
            of_consumers = sum(group.held_by_member(member_id) for member_id in group.members)
            of_consumers += group._held_itself[1] if group._held_itself else 0
        assert self.world.memory.bytes_held == held_by(self.world) + of_consumers

    @invariant()
    def committed_offsets_are_kept(self):
        if not hasattr(self, "committed") or not self.committed:
            return
        (group,) = self.world.fetch("g", {"t": sorted(self.committed)}).response.groups
        fetched = {p.partition_index: p.committed_offset for p in group.topics[0].partitions}
        assert fetched == self.committed

    def teardown(self):
        if not hasattr(self, "world"):
            return
        self.world.append_error = None
        for _ in range(60):
            self.world.advance(2_000)
            for member in self.members:
                _step(member)
        owned = sorted(index for member in self.members for _, index in member.owned)
        if self.members:
            assert owned == list(range(self.world.topics.named("t").partition_count))
            has_consumers = not all(map(_is_classic, self.members))
            assert [group.group_type for group in self.world.list_groups()] == [
                "consumer" if has_consumers else "classic"
            ]


def _step(member) -> None:
    """A consumer whose group is a classic one by now ends, and is started again by whoever runs it."""
    if _is_classic(member):
        member.step()
    elif member.beat() is ErrorCode.GROUP_ID_NOT_FOUND:
        member.epoch, member.owned = 0, set()


def _is_classic(member) -> bool:
    return isinstance(member, ClassicConsumer)


def _instance_of(member) -> str | None:
    return member.instance_id if _is_classic(member) else member.fields["instance_id"]


MixedGroupMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
TestMixedGroups = MixedGroupMachine.TestCase
