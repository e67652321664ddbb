"""Who tells of partitions that nothing is done to is not taken to move them."""

from contextlib import nullcontext

from broker.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from console.kit.gateway.moves import kafka as moves
from console.kit.gateway.moves.interface import MoveView


def test_only_partitions_with_replicas_that_come_or_go_are_under_way(monkeypatch):
    """Brokers by other hands answer with every partition there is."""
    reassignments = [
        OngoingPartitionReassignment(partition_index=at, replicas=[1, 2], adding_replicas=comes, removing_replicas=goes)
        for at, (comes, goes) in enumerate([([], []), ([2], []), ([], [1])])
    ]
    answer = ListPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=0,
        error_message=None,
        topics=[OngoingTopicReassignment(name="orders", partitions=reassignments)],
    )
    monkeypatch.setattr(moves, "_ask_controller", lambda _cluster, _request: answer)
    gateway = moves.KafkaMoves.__new__(moves.KafkaMoves)
    gateway._timeout = 1.0
    gateway._cluster = lambda *_: nullcontext()
    assert gateway.under_way() == {
        ("orders", 1): MoveView((1, 2), (2,), ()),
        ("orders", 2): MoveView((1, 2), (), (1,)),
    }
