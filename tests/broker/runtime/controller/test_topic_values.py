"""Whose word counts on settings of topics: the topic's, this broker's, all brokers', the file's, in this order."""

import pytest

from broker.common.eligible_leaders import MinIsrSettings
from broker.runtime.controller.eligible_leader_settings import unify_min_isr
from broker.runtime.controller.topic_values import min_isr_of_topics, topics_with_unclean_election
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.manual_clock import ManualClock

KEY, MIN_ISR = "unclean.leader.election.enable", "min.insync.replicas"


@pytest.fixture
async def store(zookeeper, request):
    session = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}/{request.node.name}", 4_000)
    await session.connect(10_000)
    store = ClusterStore(session, ManualClock())
    await store.ensure_persistent_paths()
    yield store
    await session.close()


async def test_topics_that_say_nothing_take_the_files_word(store):
    assert await topics_with_unclean_election(store, {"t", "u"}, 1, by_file=False) == frozenset()
    assert await topics_with_unclean_election(store, {"t", "u"}, 1, by_file=True) == {"t", "u"}


async def test_topics_own_word_counts_first(store):
    await store.set_config("topics", "t", {KEY: "true"})
    await store.set_config("topics", "u", {KEY: "false"})
    assert await topics_with_unclean_election(store, {"t", "u", "v"}, 1, by_file=False) == {"t"}
    assert await topics_with_unclean_election(store, {"t", "u", "v"}, 1, by_file=True) == {"t", "v"}


async def test_what_was_set_while_running_counts_before_the_file(store):
    await store.set_config("brokers", "<default>", {KEY: "true"})
    assert await topics_with_unclean_election(store, {"t"}, 1, by_file=False) == {"t"}
    await store.set_config("brokers", "1", {KEY: "false"})
    assert await topics_with_unclean_election(store, {"t"}, 1, by_file=True) == frozenset()
    assert await topics_with_unclean_election(store, {"t"}, 2, by_file=False) == {"t"}


async def test_what_cannot_be_read_is_no_permission(store):
    await store.set_config("topics", "t", {KEY: "perhaps"})
    await store.session.create("/config/topics/u", b"garbage")
    assert await topics_with_unclean_election(store, {"t", "u", "v"}, 1, by_file=True) == {"v"}


async def test_min_insync_replicas_is_read_in_the_same_order(store):
    await store.set_config("topics", "t", {MIN_ISR: "3"})
    await store.set_config("topics", "u", {MIN_ISR: "many"})
    assert await min_isr_of_topics(store, {"t", "u", "v"}, 1, by_file=2) == MinIsrSettings(2, {"t": 3, "u": 1})
    await store.set_config("brokers", "<default>", {MIN_ISR: "4"})
    assert await min_isr_of_topics(store, (), 1, by_file=2) == MinIsrSettings(4)


async def test_min_insync_replicas_becomes_the_same_for_all_brokers(store):
    await store.set_config("brokers", "2", {MIN_ISR: "3", "log.retention.ms": "1"})
    await unify_min_isr(store, 2)
    assert await store.config("brokers", "2") == {"log.retention.ms": "1"}
    assert await store.config("brokers", "<default>") == {MIN_ISR: "2"}
    await unify_min_isr(store, 1)
    assert await store.config("brokers", "<default>") == {MIN_ISR: "2"}, "there is one"
