"""How many files and sockets this process may have open, and what of it is for connections.

A connection that cannot be had is a client that tries again; a log segment that cannot be opened is an outage. So
connections get only a share, whatever `max.connections` allows.
"""

import resource

from broker.common.errors import StartupError
from broker.common.limits import CONNECTIONS_DESCRIPTOR_SHARE
from broker.common.logs import logger

_log = logger(__name__)
#: ZooKeeper, listeners, standard streams, the files of a few partitions, and a few clients.
_DESCRIPTORS_MIN = 128


def raise_descriptor_limit() -> int:
    """Raise the soft limit to the hard one, which needs no privilege; the limit then. StartupError if it is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (ValueError, OSError) as error:
            _log.warning("limit of open files not raised", limit=soft, allowed=hard, reason=str(error))
    if soft == resource.RLIM_INFINITY:
        return 2**31 - 1
    if soft < _DESCRIPTORS_MIN:
        raise StartupError(
            f"this process may open {soft} files, a broker needs {_DESCRIPTORS_MIN}: raise the limit (ulimit -Hn)"
        )
    return soft


def connections_share(limit: int) -> int:
    """Return how many connections fit beside the broker's files within the descriptor limit."""
    return int(limit * CONNECTIONS_DESCRIPTOR_SHARE)


def connections_within(limit: int, wanted: int) -> int:
    """Return how many connections of `max.connections` fit beside the broker's files; logs a line if fewer."""
    allowed = min(wanted, connections_share(limit))
    if allowed < wanted:
        _log.warning(
            "fewer connections than max.connections, for want of file descriptors",
            max_connections=wanted,
            connections=allowed,
            open_files_limit=limit,
            remedy="ulimit -Hn, or LimitNOFILE= in a systemd unit",
        )
    return allowed
