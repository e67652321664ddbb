"""The transactions one coordinator knows. `replay` is the only writer.

A transition is proposed, appended, replayed. While one call lasts its own proposals count already; if they cannot be
appended they are withdrawn and nothing needs undoing.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from broker.coordinator.outcome import Remains
from broker.coordinator.transaction.outcome import TransactionTurn
from broker.coordinator.transaction.records import decode_key, decode_value
from broker.coordinator.transaction.transaction import Transaction


class Ledger:
    def __init__(self) -> None:
        self._transactions: dict[str, Transaction] = {}
        #: What was proposed and neither replayed nor withdrawn yet; None is a tombstone.
        self._proposed: dict[str, deque[Transaction | None]] = {}
        #: Of all transactions together.
        self.partition_count = 0

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """By transactional id; for reading only."""
        return self._transactions

    def current(self, transactional_id: str, turn: TransactionTurn) -> Transaction | None:
        """As it is after what this call has proposed."""
        if transactional_id in turn.proposed:
            return turn.proposed[transactional_id]
        return self._transactions.get(transactional_id)

    def propose(self, transaction: Transaction, turn: TransactionTurn) -> None:
        turn.propose(transaction)
        self._proposed.setdefault(transaction.transactional_id, deque()).append(transaction)

    def propose_tombstone(self, transactional_id: str, turn: TransactionTurn) -> None:
        turn.propose_tombstone(transactional_id)
        self._proposed.setdefault(transactional_id, deque()).append(None)

    def withdraw(self, transactional_id: str) -> None:
        self._proposed.pop(transactional_id, None)

    def withdraw_all(self) -> None:
        self._proposed.clear()

    def replay(self, key: bytes, value: bytes | None) -> str | None:
        """Apply one record; whose it is, None if it is of another kind. Raises InvariantViolation."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return None
        proposed = self._take_proposed(transactional_id)
        before = self._transactions.get(transactional_id)
        count_before = len(before.partitions) if before else 0
        if value is None:
            self._transactions.pop(transactional_id, None)
            self.partition_count -= count_before
            return transactional_id
        transaction = decode_value(transactional_id, value)
        if proposed is not None:
            transaction = replace(
                transaction,
                last_producer_id=proposed.last_producer_id,
                last_producer_epoch=proposed.last_producer_epoch,
            )
        self._transactions[transactional_id] = transaction
        self.partition_count += len(transaction.partitions) - count_before
        return transactional_id

    def _take_proposed(self, transactional_id: str) -> Transaction | None:
        waiting = self._proposed.get(transactional_id)
        if waiting is None:
            return None
        proposed = waiting.popleft()
        if not waiting:
            del self._proposed[transactional_id]
        return proposed

    def forget(self) -> list[Remains]:
        """Everything; what that was."""
        remains: list[Remains] = [self._transactions]
        self._transactions = {}
        self._proposed.clear()
        self.partition_count = 0
        return remains
