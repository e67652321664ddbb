"""How long a login counts (KIP-368): until what was shown ends by itself, or connections.max.reauth.ms is over."""


def session_lifetime_ms(expires_ms: int | None, reauth_ms: int, now_ms: int) -> int | None:
    """As the client is told; None for ever. 0 is an end, too: what was shown is over already (KAFKA-13848)."""
    ends = [reauth_ms] if reauth_ms > 0 else []
    if expires_ms is not None:
        ends.append(max(0, expires_ms - now_ms))
    return min(ends, default=None)
