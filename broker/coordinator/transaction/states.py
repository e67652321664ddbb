"""The states of a transaction, by the numbers Kafka stores and the names its tools show, and which may follow which."""

from enum import Enum


class TransactionPhase(Enum):
    """`number` is what the log holds, `label` what DescribeTransactions and ListTransactions say."""

    EMPTY = 0, "Empty"
    ONGOING = 1, "Ongoing"
    PREPARE_COMMIT = 2, "PrepareCommit"
    PREPARE_ABORT = 3, "PrepareAbort"
    COMPLETE_COMMIT = 4, "CompleteCommit"
    COMPLETE_ABORT = 5, "CompleteAbort"

    def __init__(self, number: int, label: str):
        self.number = number
        self.label = label

    @property
    def is_decided(self) -> bool:
        """Whether the outcome is fixed, though markers may still be missing."""
        return self in (TransactionPhase.PREPARE_COMMIT, TransactionPhase.PREPARE_ABORT)

    @property
    def is_open(self) -> bool:
        """Something was written that readers of committed records wait for."""
        return self is TransactionPhase.ONGOING or self.is_decided


BY_NUMBER = {state.number: state for state in TransactionPhase}

#: What tools may filter by: Kafka has two states more, which no transaction here is ever seen in.
LABELS = frozenset({state.label for state in TransactionPhase} | {"Dead", "PrepareEpochFence"})

#: State → those that may follow it. A producer that does not know whether its transaction began aborts it in any case,
#: and is given a higher epoch by that (KIP-890, part 2).
_FOLLOWERS = {
    TransactionPhase.EMPTY: (TransactionPhase.EMPTY, TransactionPhase.ONGOING, TransactionPhase.PREPARE_ABORT),
    TransactionPhase.ONGOING: (
        TransactionPhase.ONGOING,
        TransactionPhase.PREPARE_COMMIT,
        TransactionPhase.PREPARE_ABORT,
    ),
    TransactionPhase.PREPARE_COMMIT: (TransactionPhase.COMPLETE_COMMIT,),
    TransactionPhase.PREPARE_ABORT: (TransactionPhase.COMPLETE_ABORT,),
    TransactionPhase.COMPLETE_COMMIT: (
        TransactionPhase.EMPTY,
        TransactionPhase.ONGOING,
        TransactionPhase.PREPARE_ABORT,
    ),
    TransactionPhase.COMPLETE_ABORT: (TransactionPhase.EMPTY, TransactionPhase.ONGOING, TransactionPhase.PREPARE_ABORT),
}


def may_follow(before: TransactionPhase, after: TransactionPhase) -> bool:
    return after in _FOLLOWERS[before]
