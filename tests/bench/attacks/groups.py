"""Attacks on coordinators: members, groups, offsets and transactional ids without end, each with much to keep."""

import time
from collections.abc import Callable, Iterator
from itertools import count

from broker.protocol.messages.describe_groups import DescribeGroupsRequest
from broker.protocol.messages.find_coordinator import CoordinatorType, FindCoordinatorRequest
from broker.protocol.messages.init_producer_id import InitProducerIdRequest
from broker.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from broker.protocol.messages.list_groups import ListGroupsRequest
from broker.protocol.messages.list_transactions import ListTransactionsRequest
from broker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.bench.attacks.aim import Aim, Line, connections, request, send_some

_HALF_AN_HOUR_MS = 1_800_000
#: Before the versions in which the first answer only hands out a member id.
_JOINS_AT_ONCE = 3


def joining(group_id: str, metadata: bytes, version: int = _JOINS_AT_ONCE, **options) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group_id,
        session_timeout_ms=_HALF_AN_HOUR_MS,
        rebalance_timeout_ms=2**31 - 1,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
        **options,
    )


def coordinated(aim: Aim, kind: CoordinatorType) -> None:
    """Waits until the coordinator's topic is there."""
    line = Line(aim)
    while line.ask(FindCoordinatorRequest(key="any", key_type=kind), 2).error_code:
        time.sleep(0.1)


def _members_of(size: int, *, is_one_group: bool) -> Callable[[Aim], Iterator[None]]:
    """Members with so much metadata, a hundred on each connection, which is closed behind them."""

    def attack(aim: Aim) -> Iterator[None]:
        coordinated(aim, CoordinatorType.GROUP)
        metadata = bytes(size)
        for number in count():
            (one,) = connections(aim, 1)
            one.settimeout(10)
            for index in range(100):
                group_id = "the-group" if is_one_group else f"g-{number}-{index}"
                try:
                    one.sendall(request(joining(group_id, metadata), _JOINS_AT_ONCE))
                except OSError:
                    break
                if size > 10_000:
                    time.sleep(0.002)
            yield
            time.sleep(0.05)
            one.close()

    return attack


def long_names(aim: Aim) -> Iterator[None]:
    """Joins whose group, instance, reason and client have names of 30,000 letters."""
    coordinated(aim, CoordinatorType.GROUP)
    line = Line(aim)
    for number in count():
        name = f"{number}-" + "G" * 30_000
        join_request = joining(name, b"", group_instance_id=name, reason="\r\nlevel=error \x1b[2J\u2028" * 1_000)
        line.send(
            request(join_request, 8, "c" * 30_000) + request(joining(f"g-{number}", b"", reason=name), 8, name[:30_000])
        )
        line.take(1)
        yield
        time.sleep(0.005)
        if number % 200 == 199:
            line.come_again()


def commits(aim: Aim) -> Iterator[None]:
    """Offsets with 4 KB of metadata each, every three of a group of their own."""
    coordinated(aim, CoordinatorType.GROUP)
    line = Line(aim)
    for number in count():
        line.send(b"".join(request(_commit(aim, f"g-{number}-{index}", "M" * 4_000), 7) for index in range(20)))
        line.take(20)
        yield
        time.sleep(0.005)


def _commit(aim: Aim, group_id: str, metadata: str) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=1, committed_metadata=metadata)
    return OffsetCommitRequest(
        group_id=group_id, topics=[OffsetCommitRequestTopic(name=aim.topic, partitions=[partition])]
    )


def listed(aim: Aim) -> Iterator[None]:
    """30,000 groups, all listed, and 5,000 described, again and again."""
    coordinated(aim, CoordinatorType.GROUP)
    line = Line(aim)
    names = [f"many-{number}" for number in range(30_000)]
    for at in range(0, len(names), 200):
        line.send(b"".join(request(_commit(aim, name, ""), 7) for name in names[at : at + 200]))
        line.take(200)
    described = request(DescribeGroupsRequest(groups=names[:5_000]), 5)
    while True:
        line.send(request(ListGroupsRequest(), 4) + described)
        line.take(2)
        yield
        time.sleep(0.02)


def one_large_group(aim: Aim) -> Iterator[None]:
    """900 members of 20 KB in one group that is described, left and joined again and again."""
    coordinated(aim, CoordinatorType.GROUP)
    opened = connections(aim, 30)
    line = Line(aim)
    while True:
        for number in range(900):
            send_some(opened[number % 30], request(joining("large", bytes(20_000)), _JOINS_AT_ONCE))
            if number % 30 == 0:
                line.ask(DescribeGroupsRequest(groups=["large"]), 0)
                yield
        for item in opened:
            item.close()
        opened = connections(aim, 30)


def transactional_ids(aim: Aim) -> Iterator[None]:
    """A new transactional id with every request, and all of them listed from time to time."""
    coordinated(aim, CoordinatorType.TRANSACTION)
    line = Line(aim)
    for number in count():
        requests = [
            InitProducerIdRequest(transactional_id=f"x-{number}-{index}", transaction_timeout_ms=900_000)
            for index in range(50)
        ]
        line.send(b"".join(request(item, 1) for item in requests))
        line.take(50)
        if number % 50 == 0:
            line.send(request(ListTransactionsRequest(), 0))
            line.take()
        yield
        time.sleep(0.005)


def producer_ids(aim: Aim) -> Iterator[None]:
    """Producer ids, 500 at a time."""
    requests = request(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0), 1) * 500
    line = Line(aim)
    while True:
        line.send(requests)
        line.take(500)
        yield
        time.sleep(0.01)


ATTACKS = {
    "members of 500 KB": _members_of(500_000, is_one_group=False),
    "thousands of groups": _members_of(10, is_one_group=False),
    "thousands of members": _members_of(200, is_one_group=True),
    "a group of 900 large members": one_large_group,
    "names of 30,000 letters": long_names,
    "offsets with 4 KB of metadata": commits,
    "30,000 groups listed": listed,
    "transactional ids without end": transactional_ids,
    "producer ids without end": producer_ids,
}
