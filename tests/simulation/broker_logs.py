"""The brokers' own log lines become part of the history; a line that tells of a fault of ours is a violation."""

import asyncio
from collections.abc import Callable

import structlog

from tests.simulation.history import History

_ERRORS = ("error", "critical", "exception")
#: What brokers rightly report of disks and peers in a run with faults.
_EXPECTED = frozenset({"cannot follow", "cannot host partition", "segment set aside"})


#: The beginning of what they rightly report of a log whose machine lost power with segments that were not synced.
_OFFSETS_MISSING = "offsets are missing before or between segments"


def record_logs(
    history: History,
    directory: str,
    is_in_disk_trouble: Callable[[str], bool],
    may_lack_offsets: Callable[[str], bool],
) -> None:
    """Paths below `directory` are written without it: it has another name in each run.

    `may_lack_offsets` is asked of the directory of a log, as it is written.
    """

    def is_expected(what: str, facts: dict[str, str]) -> bool:
        return what in _EXPECTED or (what.startswith(_OFFSETS_MISSING) and may_lack_offsets(facts["directory"]))

    def write(_logger: object, method: str, event: dict) -> dict:
        what = event.pop("event")
        facts = {key: str(value).replace(directory, "") for key, value in event.items() if key != "exc_info"}
        loop = asyncio._get_running_loop()
        who = loop.name if loop is not None else "thread"
        if method in _ERRORS and not is_expected(what, facts) and not is_in_disk_trouble(who):
            history.violate(f"{who} logs an error: {what} {facts}")
            if event.get("exc_info"):
                facts["traceback"] = structlog.processors.format_exc_info(None, method, dict(event))["exception"]
        history.add(who, what, **facts)
        raise structlog.DropEvent

    structlog.configure(processors=[write], cache_logger_on_first_use=False)


def ignore_logs() -> None:
    """What is collected of a run that is over may log still; and nothing keeps the run any more."""

    def drop(_logger: object, _method: str, _event: dict) -> dict:
        raise structlog.DropEvent

    structlog.configure(processors=[drop], cache_logger_on_first_use=False)
