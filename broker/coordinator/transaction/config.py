"""What an operator may set about transactions: Kafka's keys with Kafka's defaults, and bounds it has no key for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionConfig:
    """Each attribute is the broker property of the same name, dots for underscores."""

    #: Longest timeout a producer may ask for.
    transaction_max_timeout_ms: int = 900_000
    #: Whether a producer may have transactions without a timeout (KIP-939).
    transaction_two_phase_commit_enable: bool = False
    #: How long a transactional id without a transaction is remembered.
    transactional_id_expiration_ms: int = 604_800_000
    #: How long an answer waits for its records to be committed. Kafka waits as long as the transaction may last, which
    #: is longer than any producer waits.
    request_timeout_ms: int = 30_000


#: Pause before something nobody asked for (an abort after a timeout, a completion) is tried again after its append
#: failed.
RETRY_MS = 1_000

#: Partitions of one transaction: as many as the largest topic has. Its record names them all, and is written and read
#: again with each one more: 25 ms on the loop.
PARTITIONS_PER_TRANSACTION_MAX = 10_000

#: Bytes of one transaction's record: half of what one batch may have by default (max.message.bytes).
RECORD_BYTES_MAX = 512 * 1024
