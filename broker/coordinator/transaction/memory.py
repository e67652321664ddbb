"""What the transactions of all coordinators of one broker hold, with a share for each client."""

from broker.common.limits import (
    TRANSACTION_NEWCOMER_PARTITIONS,
    TRANSACTION_PARTITIONS_MAX,
    TRANSACTIONAL_IDS_MAX,
    TRANSACTIONAL_NEWCOMER_IDS,
)
from broker.common.shared_budget import SharedBudget, SharedBudgets


class TransactionMemory(SharedBudgets):
    """Transactional ids, and the partitions that transactions cover. Both are counted for the client of the id."""

    def __init__(self, ids_max: int = TRANSACTIONAL_IDS_MAX, partitions_max: int = TRANSACTION_PARTITIONS_MAX):
        self.ids = SharedBudget(ids_max, TRANSACTIONAL_NEWCOMER_IDS)
        self.partitions = SharedBudget(partitions_max, TRANSACTION_NEWCOMER_PARTITIONS)
        super().__init__(
            "have producers keep their transactional ids and end their transactions, or give clients principals of "
            "their own",
            {"transactional ids": self.ids, "transaction partitions": self.partitions},
        )
