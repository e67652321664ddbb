"""What a leader knows of one follower, from its fetches alone."""

from dataclasses import dataclass

UNKNOWN_OFFSET = -1
UNKNOWN_BROKER_EPOCH = -1


@dataclass(slots=True)
class FollowerState:
    """Times are monotonic. A follower counts as caught up at a time if it held then what the leader held then."""

    #: Of those who are told so: exclusive end of what the follower holds. -1 until its first fetch of this epoch.
    log_end_offset: int = UNKNOWN_OFFSET
    #: Where its log starts; -1 until its first fetch of this epoch.
    log_start_offset: int = UNKNOWN_OFFSET
    last_caught_up_ms: int = 0
    #: The registration under which it fetched last (KIP-903); -1 until then.
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    _last_fetch_ms: int = 0
    _leader_end_at_last_fetch: int = 0

    def record_fetch(self, log_end_offset: int, leader_end_offset: int, now_ms: int) -> None:
        """Record a fetch from `log_end_offset`, which proves that the follower has everything before.

        A follower that holds what the leader had at its last fetch was caught up then, even if more has been written
        since: otherwise a steady stream would count every follower out.
        """
        if log_end_offset >= leader_end_offset:
            self.last_caught_up_ms = max(self.last_caught_up_ms, now_ms)
        elif log_end_offset >= self._leader_end_at_last_fetch:
            self.last_caught_up_ms = max(self.last_caught_up_ms, self._last_fetch_ms)
        self.log_end_offset = log_end_offset
        self._last_fetch_ms = now_ms
        self._leader_end_at_last_fetch = leader_end_offset
