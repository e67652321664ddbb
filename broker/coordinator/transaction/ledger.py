"""The transactions one coordinator knows. `replay` is the only writer.

A transition is proposed, appended, replayed. While one call lasts its own proposals count already; if they cannot be
appended they are withdrawn and nothing needs undoing.
"""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from broker.common.shared_budget import Owner
from broker.coordinator.outcome import Remains
from broker.coordinator.transaction.outcome import TransactionTurn
from broker.coordinator.transaction.records import decode_key, decode_value
from broker.coordinator.transaction.transaction import Transaction

K = TypeVar("K")


class Ledger:
    def __init__(self) -> None:
        self._transactions: dict[str, Transaction] = {}
        #: What was proposed and neither replayed nor withdrawn yet; None is a tombstone.
        self._proposed: dict[str, deque[Transaction | None]] = {}
        #: Of all transactions together.
        self.partition_count = 0
        self._owners: dict[str, Owner] = {}
        #: How many transactional ids each client made known, as far as its requests came to this coordinator.
        self.ids_of_owner: Counter[Owner] = Counter()
        self.ids_of_principal: Counter[str] = Counter()

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """By transactional id; for reading only."""
        return self._transactions

    def current(self, transactional_id: str, turn: TransactionTurn) -> Transaction | None:
        """As it is after what this call has proposed."""
        if transactional_id in turn.proposed:
            return turn.proposed[transactional_id]
        return self._transactions.get(transactional_id)

    def attribute(self, transactional_id: str, owner: Owner) -> None:
        """The id counts for the client that made it known; one that was loaded, for the first that initialises it."""
        if transactional_id not in self._owners:
            self._owners[transactional_id] = owner
            self.ids_of_owner[owner] += 1
            self.ids_of_principal[owner.principal] += 1

    def forget_owner_of_nothing(self, transactional_id: str) -> None:
        """What was asked for came to nothing: the id is neither known nor proposed."""
        if transactional_id not in self._transactions and transactional_id not in self._proposed:
            self._lose_owner(transactional_id)

    def _lose_owner(self, transactional_id: str) -> None:
        owner = self._owners.pop(transactional_id, None)
        if owner is not None:
            _count_down(self.ids_of_owner, owner)
            _count_down(self.ids_of_principal, owner.principal)

    def propose(self, transaction: Transaction, turn: TransactionTurn) -> None:
        turn.propose(transaction)
        self._proposed.setdefault(transaction.transactional_id, deque()).append(transaction)

    def propose_tombstone(self, transactional_id: str, turn: TransactionTurn) -> None:
        turn.propose_tombstone(transactional_id)
        self._proposed.setdefault(transactional_id, deque()).append(None)

    def withdraw(self, transactional_id: str) -> None:
        self._proposed.pop(transactional_id, None)
        if transactional_id not in self._transactions:
            self._lose_owner(transactional_id)

    def withdraw_all(self) -> None:
        for transactional_id in list(self._proposed):
            self.withdraw(transactional_id)

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
            self._lose_owner(transactional_id)
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
        self._owners = {}
        self.ids_of_owner.clear()
        self.ids_of_principal.clear()
        self.partition_count = 0
        return remains


def _count_down(counts: Counter[K], key: K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
