"""Where a follower cuts its log when its leader says that they part (KIP-101, KIP-279)."""

from collections.abc import Callable
from typing import NamedTuple

NO_EPOCH = -1


class LeaderEpochEnd(NamedTuple):
    """An epoch and the offset after its last record."""

    epoch: int
    end_offset: int


def truncation_offset(
    leaders: LeaderEpochEnd, end_of_own: Callable[[int], LeaderEpochEnd], log_end_offset: int, high_watermark: int
) -> int:
    """Return the offset to truncate to; the rest may have to be truncated again at a lower epoch.

    `leaders` is the largest epoch the leader knows that is not above the follower's last, and where it ends there;
    `end_of_own` is the same question put to the follower's own log. A leader that knows no epoch can only be trusted
    with what was committed.
    """
    if leaders.epoch == NO_EPOCH:
        return min(high_watermark, log_end_offset)
    own = end_of_own(leaders.epoch)
    if own.epoch == NO_EPOCH:
        return min(leaders.end_offset, log_end_offset)
    return min(own.end_offset, leaders.end_offset, log_end_offset)
