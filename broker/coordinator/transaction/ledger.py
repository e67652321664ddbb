"""The transactions one coordinator knows. `replay` is the only writer.

A transition is proposed, appended, replayed. While one call lasts its own proposals count already; if they cannot be
appended they are withdrawn and nothing needs undoing.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from broker.common.shared_budget import UNATTRIBUTED, HeldPart, Owner
from broker.coordinator.fields import text_bytes
from broker.coordinator.outcome import Remains
from broker.coordinator.recorded_owners import Headers, decode_owner, encode_owner
from broker.coordinator.transaction.memory import TransactionMemory
from broker.coordinator.transaction.outcome import TransactionTurn
from broker.coordinator.transaction.records import decode_key, decode_value
from broker.coordinator.transaction.transaction import Transaction

#: Bytes of a transactional id from which it counts for two of TRANSACTIONAL_IDS_MAX.
LETTERS_OF_ONE_ID = 200


class TransactionStore:
    def __init__(self, memory: TransactionMemory) -> None:
        self._memory = memory
        self._ids, self._partitions = HeldPart(memory.ids), HeldPart(memory.partitions)
        self._transactions: dict[str, Transaction] = {}
        #: What was proposed and neither replayed nor withdrawn yet; None is a tombstone.
        self._proposed: dict[str, deque[Transaction | None]] = {}
        #: By transactional id, known or proposed: the client that it is counted for.
        self._owners: dict[str, Owner] = {}

    @property
    def transactions(self) -> Mapping[str, Transaction]:
        """The transactions by transactional id; read-only."""
        return self._transactions

    def current(self, transactional_id: str, turn: TransactionTurn) -> Transaction | None:
        """Return the transaction including this call's own changes; None if there is none."""
        if transactional_id in turn.proposed:
            return turn.proposed[transactional_id]
        return self._transactions.get(transactional_id)

    def attribute(self, transactional_id: str, owner: Owner) -> bool:
        """Count the id for the client that made it known. Return whether that client has room for it.

        One that is known goes on; it is forgotten after a week only (transactional.id.expiration.ms). One of which the
        log names no client is counted for the first that initialises it and has room for it.
        """
        before = self._owners.get(transactional_id)
        if before is not None and before != UNATTRIBUTED:
            return True
        things, covered = _things(transactional_id), self._covered(transactional_id)
        has_room = self._memory.ids.has_room_for(owner, things) and self._memory.partitions.has_room_for(owner, covered)
        if has_room:
            self._count_for(transactional_id, owner)
        return has_room or before is not None

    def owner_of(self, transactional_id: str) -> Owner:
        return self._owners.get(transactional_id, UNATTRIBUTED)

    def _covered(self, transactional_id: str) -> int:
        """Return how many partitions the transaction covers."""
        transaction = self._transactions.get(transactional_id)
        return len(transaction.partitions) if transaction is not None else 0

    def _count_for(self, transactional_id: str, owner: Owner | None) -> None:
        """Count the id and what it covers for the owner, for None no more."""
        before, covered = self._owners.pop(transactional_id, None), self._covered(transactional_id)
        for client, sign in ((before, -1), (owner, 1)):
            if client is not None:
                self._ids.hold(client, sign * _things(transactional_id))
                self._partitions.hold(client, sign * covered)
        if owner is not None:
            self._owners[transactional_id] = owner

    def forget_owner_of_nothing(self, transactional_id: str) -> None:
        """Forget an id whose creation came to nothing: it is neither known nor proposed."""
        if transactional_id not in self._transactions and transactional_id not in self._proposed:
            self._count_for(transactional_id, None)

    def propose(self, transaction: Transaction, turn: TransactionTurn) -> None:
        turn.propose(transaction, encode_owner(self.owner_of(transaction.transactional_id)))
        self._proposed.setdefault(transaction.transactional_id, deque()).append(transaction)

    def propose_tombstone(self, transactional_id: str, turn: TransactionTurn) -> None:
        turn.propose_tombstone(transactional_id)
        self._proposed.setdefault(transactional_id, deque()).append(None)

    def withdraw(self, transactional_id: str) -> None:
        self._proposed.pop(transactional_id, None)
        self.forget_owner_of_nothing(transactional_id)

    def withdraw_all(self) -> None:
        for transactional_id in list(self._proposed):
            self.withdraw(transactional_id)

    def replay(self, key: bytes, value: bytes | None, headers: Headers = ()) -> str | None:
        """Apply one record; whose it is, None if it is of another kind. Raises InvariantViolation."""
        transactional_id = decode_key(key)
        if transactional_id is None:
            return None
        proposed = self._take_proposed(transactional_id)
        if value is None:
            self._count_for(transactional_id, None)
            self._transactions.pop(transactional_id, None)
            return transactional_id
        transaction = decode_value(transactional_id, value)
        if proposed is not None:
            transaction = replace(
                transaction,
                last_producer_id=proposed.last_producer_id,
                last_producer_epoch=proposed.last_producer_epoch,
            )
        else:
            self._count_for(transactional_id, decode_owner(headers))
        growth = len(transaction.partitions) - self._covered(transactional_id)
        self._transactions[transactional_id] = transaction
        self._partitions.hold(self.owner_of(transactional_id), growth)
        return transactional_id

    def _take_proposed(self, transactional_id: str) -> Transaction | None:
        waiting = self._proposed.get(transactional_id)
        if waiting is None:
            return None
        proposed = waiting.popleft()
        if not waiting:
            del self._proposed[transactional_id]
        return proposed

    def end_load(self) -> None:
        self._ids.is_loading = self._partitions.is_loading = False

    def forget(self) -> list[Remains]:
        """Clear all transactions. Returns the removed ones."""
        self._ids.close()
        self._partitions.close()
        remains: list[Remains] = [self._transactions, self._owners]
        self._transactions, self._owners = {}, {}
        self._proposed.clear()
        return remains


def _things(transactional_id: str) -> int:
    """Return for how many the id counts: a long one takes the memory of many."""
    return 1 + text_bytes(transactional_id) // LETTERS_OF_ONE_ID
