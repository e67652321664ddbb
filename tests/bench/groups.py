"""What one group coordinator does: commits a second, many groups listed and loaded, a large group's rebalance, memory.

All groups are in the one partition of `__consumer_offsets` there is, so that one coordinator does it all. A commit is
one partition's offset: an OffsetCommit request of version 8 that names one partition, answered without an error.
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
from confluent_kafka.admin import AdminClient, NewTopic

from broker.client.connection import BrokerConnection
from broker.common.errors import ErrorCode
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from broker.protocol.messages.find_coordinator import FindCoordinatorRequest
from broker.protocol.messages.heartbeat import HeartbeatRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from broker.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic
from broker.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.barnabas_cluster import BrokerProcess, Cluster, await_true, running_cluster
from tests.bench.raw import RawConnection, frame, pipelined

_TOPIC = "t"
_PARTITIONS = 10
_GROUPS = 10_000
_MEMBERS = 100
_COMMIT_VERSION = 8
_INITIAL_DELAY_MS = 100
_COMMITTING_S = 3.0


def figures() -> dict[str, Callable[[], str]]:
    """By name what measures and tells it in words."""
    return {
        "groups: commits, 1 connection, 64 in flight": lambda: _commit_figure(1, 64),
        "groups: commits, 8 connections, 32 in flight": lambda: _commit_figure(8, 32),
        "groups: commits, 3 replicas": lambda: _commit_figure(8, 32, brokers=3),
        "groups: 10,000 listed, memory": _listing_figure,
        "groups: 10,000 loaded after a fail-over": _reload_figure,
        "groups: 100 members rebalance": _rebalance_figure,
    }


def _commit_figure(connections: int, in_flight: int, brokers: int = 1) -> str:
    with _coordinator(brokers) as (cluster, broker):
        processes = [psutil.Process(broker.process.pid) for broker in cluster.brokers]
        opened = [RawConnection("127.0.0.1", broker.port) for _ in range(connections)]
        requests = [commit_frame(f"group-{number}", [0], 12_345) for number in range(connections)]
        pipelined(opened[0], requests[0], in_flight, 0.5)
        cpu, began = _cpu_seconds(processes), time.perf_counter()
        with ThreadPoolExecutor(connections) as threads:
            done = sum(threads.map(lambda c, r: pipelined(c, r, in_flight, _COMMITTING_S), opened, requests))
        seconds, cpu = time.perf_counter() - began, _cpu_seconds(processes) - cpu
        for connection in opened:
            connection.close()
        _check_committed(broker, "group-0", 12_345)
        return f"{done / seconds:,.0f} commits/s, {cpu / done * 1e6:.0f} µs of CPU each, {_rss_mb(processes):.0f} MB"


def _listing_figure() -> str:
    with _coordinator() as (_, broker):
        process = psutil.Process(broker.process.pid)
        before = _rss_mb([process])
        seconds = _fill(broker)
        after = _rss_mb([process])
        with BrokerConnection("127.0.0.1", broker.port) as connection:
            took = []
            for _ in range(5):
                began = time.perf_counter()
                assert len(connection.ask(ListGroupsRequest()).groups) == _GROUPS
                took.append(time.perf_counter() - began)
        offsets = _GROUPS * _PARTITIONS
        return (
            f"{statistics.median(took) * 1e3:.0f} ms for the list; {offsets:,} offsets committed in {seconds:.1f} s"
            f" hold {after - before:.0f} MB ({before:.0f} to {after:.0f})"
        )


def _reload_figure() -> str:
    with _coordinator(brokers=3) as (cluster, broker):
        _fill(broker)
        broker.kill()
        killed = time.perf_counter()
        survivors = [item for item in cluster.brokers if item is not broker]
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(BrokerConnection("127.0.0.1", survivor.port)) for survivor in survivors]
            loading_since, pauses = None, []
            while True:
                codes = []
                for connection in connections:
                    began_s = time.perf_counter()
                    codes.append(_fetched(connection, "group-9999")[0])
                    if loading_since:
                        pauses.append(time.perf_counter() - began_s)
                if ErrorCode.COORDINATOR_LOAD_IN_PROGRESS in codes and loading_since is None:
                    loading_since = time.perf_counter()
                if ErrorCode.NONE in codes:
                    break
                time.sleep(0.001)
        served = time.perf_counter()
        elected = loading_since or served
        return (
            f"{served - elected:.2f} s to load, {elected - killed:.1f} s to elect after the kill; while it loads, "
            f"others are answered within {max(pauses, default=0) * 1e3:.0f} ms"
        )


def _rebalance_figure() -> str:
    with _coordinator() as (_, broker), contextlib.ExitStack() as stack:
        connections = [stack.enter_context(BrokerConnection("127.0.0.1", broker.port)) for _ in range(_MEMBERS + 1)]
        members = [_Member(connection) for connection in connections]
        with ThreadPoolExecutor(_MEMBERS + 1) as threads:
            began = time.perf_counter()
            list(threads.map(_Member.enter, members[:-1]))
            first = time.perf_counter() - began - _INITIAL_DELAY_MS / 1e3
            began = time.perf_counter()
            newcomer = threads.submit(members[-1].enter)
            list(threads.map(_Member.rejoin, members[:-1]))
            newcomer.result()
            second = time.perf_counter() - began
        return f"{first:.2f} s for the first generation after the delay, {second:.2f} s for one more member"


class _Member:
    """A consumer that does what clients do in a rebalance, blocking."""

    def __init__(self, connection: BrokerConnection):
        self._connection = connection
        self._member_id = ""
        self._generation_id = -1

    def enter(self) -> None:
        self._member_id = self._join().member_id
        self._take_part()

    def rejoin(self) -> None:
        heartbeat = HeartbeatRequest(
            group_id="large", generation_id=self._generation_id, member_id=self._member_id, group_instance_id=None
        )
        while self._connection.ask(heartbeat).error_code != ErrorCode.REBALANCE_IN_PROGRESS:
            time.sleep(0.005)
        self._take_part()

    def _take_part(self) -> None:
        while True:
            joined = self._join()
            assert joined.error_code == ErrorCode.NONE, joined.error_code
            self._generation_id = joined.generation_id
            ids = [member.member_id for member in joined.members]
            synced = self._connection.ask(
                SyncGroupRequest(
                    group_id="large",
                    generation_id=joined.generation_id,
                    member_id=self._member_id,
                    assignments=[SyncGroupRequestAssignment(member_id=id_, assignment=bytes(100)) for id_ in ids],
                ),
                timeout_s=60,
            )
            if synced.error_code != ErrorCode.REBALANCE_IN_PROGRESS:
                assert synced.error_code == ErrorCode.NONE, synced.error_code
                return

    def _join(self):
        protocols = [JoinGroupRequestProtocol(name=name, metadata=bytes(100)) for name in ("range", "roundrobin")]
        request = JoinGroupRequest(
            group_id="large",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=protocols,
        )
        return self._connection.ask(request, timeout_s=60)


@contextlib.contextmanager
def _coordinator(brokers: int = 1) -> Iterator[tuple[Cluster, BrokerProcess]]:
    """A cluster with one offsets partition on all its brokers, and the broker that leads it."""
    overrides = {
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": str(brokers),
        "group.initial.rebalance.delay.ms": str(_INITIAL_DELAY_MS),
    }
    with running_cluster(brokers=brokers, overrides=overrides) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        admin.create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)])[_TOPIC].result(30)
        with BrokerConnection("127.0.0.1", cluster.brokers[0].port) as connection:
            request = FindCoordinatorRequest(coordinator_keys=["any"])
            await_true(lambda: connection.ask(request).coordinators[0].node_id > 0, "there is a coordinator")
            leader = cluster.broker(connection.ask(request).coordinators[0].node_id)
        with BrokerConnection("127.0.0.1", leader.port) as connection:
            await_true(lambda: _fetched(connection, "any")[0] is ErrorCode.NONE, "the coordinator serves")
        yield cluster, leader


def _fill(broker: BrokerProcess) -> float:
    """Commit for every partition of every group; seconds."""
    connection, began, in_flight = RawConnection("127.0.0.1", broker.port), time.perf_counter(), 0
    for number in range(_GROUPS):
        connection.send(commit_frame(f"group-{number}", range(_PARTITIONS), number))
        in_flight += 1
        if in_flight == 50:
            connection.answers(in_flight)
            in_flight = 0
    connection.answers(in_flight)
    connection.close()
    _check_committed(broker, f"group-{_GROUPS - 1}", _GROUPS - 1)
    return time.perf_counter() - began


def commit_frame(group_id: str, partitions, offset: int) -> bytes:
    committed = [
        OffsetCommitRequestPartition(partition_index=index, committed_offset=offset, committed_metadata="")
        for index in partitions
    ]
    topics = [OffsetCommitRequestTopic(name=_TOPIC, partitions=committed)]
    request = OffsetCommitRequest(group_id=group_id, member_id="", topics=topics)
    return frame(ApiKey.OFFSET_COMMIT, _COMMIT_VERSION, encode(request, _COMMIT_VERSION))


def _check_committed(broker: BrokerProcess, group_id: str, offset: int) -> None:
    with BrokerConnection("127.0.0.1", broker.port) as connection:
        assert _fetched(connection, group_id) == (ErrorCode.NONE, offset)


def _fetched(connection: BrokerConnection, group_id: str) -> tuple[ErrorCode, int]:
    topic = OffsetFetchRequestTopic(name=_TOPIC, partition_indexes=[0])
    group = OffsetFetchRequestGroup(group_id=group_id, topics=[topic])
    (first,) = connection.ask(OffsetFetchRequest(groups=[group])).groups
    offset = first.topics[0].partitions[0].committed_offset if first.topics else -1
    return ErrorCode(first.error_code), offset


def _cpu_seconds(processes: list[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _rss_mb(processes: list[psutil.Process]) -> float:
    return sum(process.memory_info().rss for process in processes) / 1e6
