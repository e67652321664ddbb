"""Whether something can be read, whatever number its descriptor has: `select` knows none beyond 1,023."""

import select


def readable(descriptor: int, timeout_s: float) -> bool:
    """Waits no longer than `timeout_s`; true also at the end of a file, and where the other side has gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, timeout_s) * 1000))
