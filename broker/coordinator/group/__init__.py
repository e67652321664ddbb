"""The classic consumer group protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup) and committed offsets.

`coordinator.py` is the door and states the contract with the runtime; `states.py` says what a group answers when;
`joining`, `rebalance`, `membership`, `offsets` and `administration` are the rules; `records.py` is the log's format.
"""

from broker.coordinator.group.client import GroupClientInfo
from broker.coordinator.group.config import GroupConfig
from broker.coordinator.group.coordinator import GroupCoordinator
from broker.coordinator.outcome import (
    CoordinatorOutcome,
    CoordinatorRecord,
    CoordinatorResponse,
    Note,
    TransactionProducer,
)

__all__ = [
    "CoordinatorOutcome",
    "CoordinatorRecord",
    "CoordinatorResponse",
    "GroupClientInfo",
    "GroupConfig",
    "GroupCoordinator",
    "Note",
    "TransactionProducer",
]
