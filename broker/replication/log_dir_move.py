"""What is to be done next so that the copy of a log in another directory becomes the log (KIP-113)."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

#: What both have in common if that is nothing.
NOTHING = -1


class LogDirMoveStep(Enum):
    #: The copy begins anew where the log does.
    START_OVER = auto()
    COPY = auto()
    #: So little is missing that the rest is copied together with the exchange.
    EXCHANGE = auto()


class MovedExtent(NamedTuple):
    """The offsets a moved log spans: of its first record, and of the record after its last."""

    start_offset: int
    end_offset: int


class EpochStart(NamedTuple):
    """The first offset of a leader's epoch, as a log notes it."""

    epoch: int
    start_offset: int


def next_step(log: MovedExtent, copy: MovedExtent, bytes_missing: int, rest_bytes_max: int) -> LogDirMoveStep:
    """Return what the move does next. A copy that ends before the log begins (retention was faster), or begins after it
    (the log was begun anew at an earlier offset), is useless and starts again.
    """
    if copy.end_offset < log.start_offset or copy.start_offset > log.start_offset:
        return LogDirMoveStep.START_OVER
    return LogDirMoveStep.EXCHANGE if bytes_missing <= rest_bytes_max else LogDirMoveStep.COPY


def shared_end(
    log_epochs: Sequence[EpochStart], log_end_offset: int, copy_epochs: Sequence[EpochStart], copy_end_offset: int
) -> int:
    """Return up to where a copy has the same records as the log, which was truncated or recovered since; or NOTHING.

    As between replicas (KIP-101): who have the same epoch have the same records up to where it ends first.
    """
    log_ends = _ends(log_epochs, log_end_offset)
    for epoch, end_offset in reversed(_ends(copy_epochs, copy_end_offset).items()):
        if epoch in log_ends:
            return min(end_offset, log_ends[epoch])
    return NOTHING


def _ends(epochs: Sequence[EpochStart], end_offset: int) -> dict[int, int]:
    """Return the end offset of each epoch, in their order."""
    next_starts = [epoch.start_offset for epoch in epochs[1:]]
    return {epoch.epoch: end for epoch, end in zip(epochs, [*next_starts, end_offset], strict=False)}
