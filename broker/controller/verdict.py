"""What the controller answers: about one partition of a client's request, and to a broker that wants to stop."""

from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition


class PartitionVerdict(NamedTuple):
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None

    @classmethod
    def of(cls, error: ApiError) -> "PartitionVerdict":
        return cls(error.code, error.message)


DONE = PartitionVerdict()


class ShutdownAnswer(NamedTuple):
    """`remaining`: what the broker still leads although another live replica could, once it has caught up."""

    code: ErrorCode = ErrorCode.NONE
    remaining: frozenset[TopicPartition] = frozenset()
