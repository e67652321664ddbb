"""Log a cluster's outage once, not once for each of librdkafka's connection attempts.

`with_quiet_logging` is for a client that is seldom polled: its errors wait in its queue until then.
`with_error_logging` is for one that is polled all the time and reports for the others of the process: it logs one line
when no broker is reached, and one when a broker is reached again.
"""

import socket
import threading
import time
from collections.abc import Mapping
from typing import Any

from broker.common.backoff import Backoff
from broker.common.logs import logger

#: Below librdkafka's errors, of which each try that fails is one.
_CRITICAL = 2
#: Between two lines of the same; and between looks whether brokers are back, longer and longer.
_QUIET_S = 60.0
_LOOK_FIRST_S, _LOOK_MAX_S = 0.5, 5.0
_CONNECT_S = 2.0
_TOLD_MAX = 1_000
#: Of one connection among others. That none is left has a name of its own.
_OF_ONE = frozenset({"_TRANSPORT", "_TIMED_OUT", "_RESOLVE"})
_log = logger("broker.client")


def with_quiet_logging(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings` with librdkafka's own log lines silenced, unless they have a `log_level`."""
    return {"log_level": _CRITICAL, **settings}


def with_error_logging(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `settings` with quiet logging and a callback that logs outages; an `error_cb` of their own stays."""
    servers = str(settings.get("bootstrap.servers") or settings.get("metadata.broker.list") or "")
    return {"error_cb": lambda error: _watch.heard(servers, error), **with_quiet_logging(settings)}


class ClientWatch:
    """`heard` is called within a client's poll, and waits for nothing."""

    def __init__(self, quiet_s: float = _QUIET_S, look_first_s: float = _LOOK_FIRST_S):
        self._quiet_s, self._look_first_s = quiet_s, look_first_s
        self._away: set[str] = set()
        self._told_at: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def heard(self, servers: str, error: Any) -> None:
        name, reason = error.name(), error.str()
        if name in _OF_ONE:
            return
        if name != "_ALL_BROKERS_DOWN":
            with self._lock:
                if not self._is_news(servers, name):
                    return
            _log.warning("client in trouble", bootstrap_servers=servers, error=name, reason=reason)
            return
        with self._lock:
            if servers in self._away:
                return
            self._away.add(servers)
        threading.Thread(target=self._look, args=[servers], name="brokers-away", daemon=True).start()

    def _is_news(self, servers: str, name: str) -> bool:
        now, key = time.monotonic(), (servers, name)
        if now - self._told_at.get(key, float("-inf")) < self._quiet_s:
            return False
        if len(self._told_at) >= _TOLD_MAX:
            self._told_at.clear()
        self._told_at[key] = now
        return True

    def _look(self, servers: str) -> None:
        """Try the servers until one answers. Short outages, and ones reported a moment ago, are not logged."""
        since, is_told, backoff = time.monotonic(), False, Backoff(self._look_first_s, _LOOK_MAX_S)
        while not _is_reached(servers):
            if not is_told:
                with self._lock:
                    is_told = self._is_news(servers, "away")
                if is_told:
                    _log.warning("no broker is reached", bootstrap_servers=servers)
            time.sleep(backoff.fail())
        with self._lock:
            self._away.discard(servers)
        if is_told:
            _log.info("brokers are reached again", bootstrap_servers=servers, after_s=round(time.monotonic() - since))


def _is_reached(servers: str) -> bool:
    return any(_connects(part.strip()) for part in servers.split(",") if part.strip())


def _connects(server: str) -> bool:
    host, _, port = server.rpartition("://")[2].rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S):
            return True
    except (OSError, ValueError):
        return False


_watch = ClientWatch()
