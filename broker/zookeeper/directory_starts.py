"""The znode of a broker that notes each of its log directories, by id, with the start that served it last.

    {"version": 1, "starts": {"0f3c…": 7}}

Not Kafka's: see `broker.log.directory_start`.
"""

import json
from collections.abc import Mapping

from broker.zookeeper.errors import NodeMissing, NotPermitted
from broker.zookeeper.session import ZooKeeperSession

_ROOT = "/barnabas/log_directories"
#: More than a broker has; of disks that were replaced the earliest are forgotten first.
_DIRECTORIES_MAX = 500


async def read_directory_starts(session: ZooKeeperSession, broker_id: int) -> dict[str, int]:
    """Return the last start of each log directory, by its id; none if the znode is missing, may not be read or is not
    understood.
    """
    try:
        starts = json.loads((await session.get(_path(broker_id))).data)["starts"]
        return {str(directory_id): int(number) for directory_id, number in starts.items()}
    except (NodeMissing, NotPermitted, ValueError, OverflowError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


async def write_directory_starts(session: ZooKeeperSession, broker_id: int, starts: Mapping[str, int]) -> None:
    """Note `starts`, of which the latest are kept. Only the broker itself writes its znode."""
    latest = sorted(starts.items(), key=lambda start: start[1])[-_DIRECTORIES_MAX:]
    await session.ensure(_path(broker_id))
    await session.set(_path(broker_id), json.dumps({"version": 1, "starts": dict(latest)}).encode())


def _path(broker_id: int) -> str:
    return f"{_ROOT}/{broker_id}"
