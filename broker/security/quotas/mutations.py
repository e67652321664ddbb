"""Limits what requests may do to topics, by the client's quota (KIP-599)."""

from collections.abc import Callable

from broker.common.errors import ApiError, ErrorCode
from broker.security.quotas.token_bucket import TokenBucket

_NS_PER_MS = 1_000_000


class Mutations:
    """Strict, as in newer versions of the APIs: a client in debt is refused. Else all is done, and the client waits."""

    def __init__(self, bucket: TokenBucket | None, now_ns: Callable[[], int], *, is_strict: bool):
        """No bucket: no bound."""
        self._bucket = bucket
        self._now_ns = now_ns
        self._is_strict = is_strict
        self._wait_ms = 0
        self._noted_ns = 0

    def take(self, partitions: int) -> None:
        """Charge partitions to be created, added or deleted. ApiError THROTTLING_QUOTA_EXCEEDED."""
        bucket = self._bucket
        if bucket is None:
            return
        now_ns = self._now_ns()
        if self._is_strict and bucket.tokens(now_ns) < 0:
            self._note(bucket, now_ns)
            raise ApiError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        bucket.take(partitions, now_ns)
        if not self._is_strict:
            self._note(bucket, now_ns)

    def _note(self, bucket: TokenBucket, now_ns: int) -> None:
        self._wait_ms, self._noted_ns = bucket.wait_ms(now_ns), now_ns

    @property
    def throttle_time_ms(self) -> int:
        """The remaining throttle time, for the response."""
        if self._bucket is None or not self._wait_ms:
            return 0
        left_ms = max(0, self._wait_ms - (self._now_ns() - self._noted_ns) // _NS_PER_MS)
        self._bucket.throttled_ms += left_ms
        return left_ms
