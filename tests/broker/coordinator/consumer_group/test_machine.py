"""Random histories of consumer groups: consumers come, go, fall silent and are restarted, and so is the coordinator.

Whatever happens, no partition is owned by two consumers at a time, and when it is calm again every subscribed partition
is owned by a subscriber, evenly.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broker.common.errors import ErrorCode
from broker.coordinator.consumer_group.config import ConsumerGroupConfig
from broker.coordinator.consumer_group.member import MemberState
from tests.broker.coordinator.consumer_group.world import Consumer, ConsumerWorld

TOPICS = ("t1", "t2")
SESSION_MS = ConsumerGroupConfig().group_consumer_session_timeout_ms
INDEXES = st.integers(0, 30)
SUBSCRIPTIONS = st.sampled_from([("t1",), ("t2",), ("t1", "t2")])


class ConsumerGroupMachine(RuleBasedStateMachine):
    @initialize(counts=st.tuples(st.integers(1, 5), st.integers(1, 5)), interval_ms=st.sampled_from([0, 1_000]))
    def begin(self, counts, interval_ms):
        config = ConsumerGroupConfig(group_consumer_assignment_interval_ms=interval_ms)
        self.world = ConsumerWorld(consumer_config=config)
        for topic, count in zip(TOPICS, counts, strict=True):
            self.world.topics.put(topic, count)
        self.consumers: list[Consumer] = []
        self.made = 0

    def _one(self, index):
        return self.consumers[index % len(self.consumers)]

    # -- consumers ----------------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.consumers) < 6)
    @rule(topics=SUBSCRIPTIONS, is_static=st.booleans(), assignor=st.sampled_from([None, "range", "uniform"]))
    def come(self, topics, is_static, assignor):
        self.made += 1
        instance_id = f"i{self.made}" if is_static else None
        consumer = Consumer(self.world, f"c{self.made}", *topics, instance_id=instance_id, server_assignor=assignor)
        self.consumers.append(consumer)
        consumer.beat()

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES)
    def beat(self, index):
        self._one(index).beat()

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES)
    def beat_in_vain(self, index):
        """The coordinator does what is asked, but the response is lost."""
        consumer = self._one(index)
        self.world.send(consumer.request(), consumer.name)

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES, is_busy=st.booleans())
    def be_busy(self, index, is_busy):
        self._one(index).revokes = not is_busy

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES, topics=SUBSCRIPTIONS)
    def subscribe(self, index, topics):
        self._one(index).topics = list(topics)

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES)
    def leave(self, index):
        consumer = self._one(index)
        consumer.owned = set()
        consumer.leave()
        self.consumers.remove(consumer)

    @precondition(lambda self: self.consumers)
    @rule(index=INDEXES)
    def be_killed(self, index):
        """Its partitions are its own for a session: it may still be at work, as far as the coordinator knows."""
        self.consumers.remove(self._one(index))

    @precondition(lambda self: any(c.fields.get("instance_id") and c.epoch > 0 for c in self.consumers))
    @rule(index=INDEXES)
    def be_restarted(self, index):
        static = [c for c in self.consumers if c.fields.get("instance_id") and c.epoch > 0]
        consumer = static[index % len(static)]
        self.consumers.remove(consumer)
        consumer.owned = set()
        if consumer.leave(epoch=-2) is ErrorCode.NONE:
            self.made += 1
            again = Consumer(self.world, f"c{self.made}", *consumer.topics, **consumer.fields)
            self.consumers.append(again)
            again.beat()

    # -- the cluster --------------------------------------------------------------------------------------------------

    @rule(topic=st.sampled_from(TOPICS), count=st.integers(1, 6))
    def add_partitions(self, topic, count):
        known = self.world.topics.named(topic)
        if known is None or known.partition_count < count:
            self.world.topics.put(topic, count)

    @precondition(lambda self: self.world.topics.named("t2"))
    @rule()
    def delete_topic(self):
        self.world.topics.delete("t2")

    @rule(by_ms=st.sampled_from([500, 5_000, 20_000, SESSION_MS, 70_000]))
    def let_time_pass(self, by_ms):
        self.world.advance(by_ms)

    @rule()
    def restart_coordinator(self):
        before = self._durable()
        self.world.restart()
        assert self._durable() == before

    @rule(error=st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.RECORD_LIST_TOO_LARGE]))
    def fail_the_next_append(self, error):
        self.world.append_error = error

    # -- what always holds --------------------------------------------------------------------------------------------

    @invariant()
    def no_partition_has_two_owners(self):
        """Of consumers that are members as far as the coordinator knows; others may not commit any more."""
        group = self.world.group()
        members = group.members if group else {}
        owners = {}
        for member in members.values():
            for owned in (member.assigned, member.pending_revocation):
                for topic_id, epochs in owned.items():
                    for index in epochs:
                        assert owners.setdefault((topic_id, index), member.member_id) == member.member_id
        for consumer in self.consumers:
            member = members.get(consumer.member_id)
            if member is not None and member.epoch == consumer.epoch:
                assert all(owners.get(partition) == consumer.member_id for partition in consumer.owned)

    @invariant()
    def records_tell_the_state(self):
        group = self.world.group()
        for member in group.members.values() if group else ():
            assert member.state is not MemberState.UNKNOWN
            assert bool(member.pending_revocation) <= (member.state is MemberState.UNREVOKED_PARTITIONS)
            assert member.epoch <= group.epoch

    def teardown(self):
        if not hasattr(self, "world"):
            return
        self.world.append_error = None
        for consumer in self.consumers:
            consumer.revokes = True
        self._beat_until_calm()
        self._check_calm()
        for consumer in self.consumers:
            consumer.leave()
        self.world.advance(SESSION_MS + 1)
        self.world.advance(600_000)
        assert self.world.group() is None
        assert self.world.memory.bytes_held == 0

    def _beat_until_calm(self):
        for _ in range(25):
            self.world.advance(4_000)
            for consumer in self.consumers:
                consumer.beat()

    def _check_calm(self):
        group = self.world.group()
        if group is None:
            assert not self.consumers
            return
        assert set(group.members) == {consumer.member_id for consumer in self.consumers}
        assert group.state.value == ("Stable" if self.consumers else "Empty")
        owned = [partition for consumer in self.consumers for partition in consumer.owned]
        subscribed = {name for consumer in self.consumers for name in consumer.topics}
        topics = [topic for topic in map(self.world.topics.named, subscribed) if topic is not None]
        assert sorted(owned) == sorted((t.topic_id, index) for t in topics for index in range(t.partition_count))
        for consumer in self.consumers:
            assert {self.world.topics.name_of(topic_id) for topic_id, _ in consumer.owned} <= set(consumer.topics)
        is_uniform = all(consumer.fields["server_assignor"] != "range" for consumer in self.consumers)
        if is_uniform and len({tuple(consumer.topics) for consumer in self.consumers}) == 1:
            sizes = [len(consumer.owned) for consumer in self.consumers]
            assert max(sizes) - min(sizes) <= 1

    def _durable(self):
        group = self.world.group()
        if group is None:
            return None
        return (group.epoch, group.metadata_hash, group.assignment_epoch, group.members, group.targets)


ConsumerGroupMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestConsumerGroups = ConsumerGroupMachine.TestCase
