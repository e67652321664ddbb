"""What a client may do, as the bit set that answers carry if they are asked for it (KIP-430).

Nobody authorizes yet, so that everybody may do all that there is to do with a resource: as Kafka without an authorizer.
"""

from collections.abc import Iterable
from enum import IntEnum


class Operation(IntEnum):
    """Kafka's numbers (AclOperation)."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


_CONFIGS = (Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)


def _bits(operations: Iterable[Operation]) -> int:
    return sum(1 << operation for operation in operations)


OF_GROUP = _bits((Operation.READ, Operation.DELETE, Operation.DESCRIBE))
OF_TOPIC = _bits(
    (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        *_CONFIGS,
    )
)
OF_CLUSTER = _bits(
    (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.IDEMPOTENT_WRITE,
        *_CONFIGS,
    )
)
