"""What the controller answers about one partition of a client's request."""

from typing import NamedTuple

from broker.common.errors import ApiError, ErrorCode


class Verdict(NamedTuple):
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None

    @classmethod
    def of(cls, error: ApiError) -> "Verdict":
        return cls(error.code, error.message)


DONE = Verdict()
