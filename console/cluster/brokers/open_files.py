"""How near the brokers on this host are to their limit of open files, by what the system says of their processes.

A broker keeps a share of the limit from connections; still, one that runs out of it can open no segment and takes no
client. Brokers elsewhere tell it by their metrics (`process_open_fds`, `process_max_fds`).
"""

from dataclasses import dataclass

import psutil
from django.conf import settings

from console.processes.queries import running_brokers

#: From this part of the limit on a person is told.
NEAR_SHARE = 0.8
NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class OpenFiles:
    count: int
    limit: int

    @property
    def is_near_limit(self) -> bool:
        return self.count >= NEAR_SHARE * self.limit


def open_files_here() -> dict[int, OpenFiles]:
    """Return the open files by broker; processes that ended or run elsewhere are missing."""
    rows = running_brokers(settings.HOST_NAME)
    open_files = {
        row.spec.get("broker_id"): open_files_of(row.pid, row.create_time)
        for row in rows
        if row.pid is not None and row.create_time is not None
    }
    return {broker_id: files for broker_id, files in open_files.items() if broker_id is not None and files is not None}


def open_files_of(pid: int, create_time: float) -> OpenFiles | None:
    try:
        process = psutil.Process(pid)
        if abs(process.create_time() - create_time) > 1:
            return None
        limit, _ = process.rlimit(psutil.RLIMIT_NOFILE)
        return OpenFiles(process.num_fds(), NO_LIMIT if limit == psutil.RLIM_INFINITY else limit)
    except (psutil.Error, OSError):
        return None
