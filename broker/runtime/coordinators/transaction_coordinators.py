"""The coordinators of transactions, one for each partition of `__transaction_state`, and what they ask of others."""

from broker.common.clock import Clock
from broker.common.errors import ApiError
from broker.coordinator.transaction.config import TransactionConfig
from broker.coordinator.transaction.coordinator import TransactionCoordinator
from broker.runtime.coordinators.coordinator_runtime import CoordinatorRuntime
from broker.runtime.coordinators.marker_lines import Ending
from broker.runtime.coordinators.marker_sender import MarkerSender
from broker.runtime.replication.replica_manager import HostedPartition, ReplicaManager
from broker.runtime.topics.internal_topics import TRANSACTION_TOPIC
