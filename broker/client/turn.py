"""Lets one of several processes work at a time: the leader of a group of the target has the turn, the others wait.

The clock goes on while a process is suspended: `holds` is false before anybody else can have the turn.
"""

import contextlib
import threading
import time

from broker.client.cluster import ClusterConnections
from broker.client.errors import BrokerUnreachable
from broker.client.membership import MembershipClient
from broker.common.errors import ApiError, BarnabasError, ErrorCode, ProtocolError
from broker.common.logs import logger

_log = logger("broker.client")
_PROTOCOL_TYPE, _PROTOCOL = "turn", "leader"
SESSION_S = 10.0
_BEAT_S = 1.0
_PAUSE_S = 0.5


class TurnThread:
    """A thread of its own from `start` to `stop`."""

    def __init__(self, cluster: ClusterConnections, group: str):
        self._member = MembershipClient(
            cluster, group, _PROTOCOL_TYPE, session_timeout_ms=int(SESSION_S * 1000), rebalance_timeout_ms=5_000
        )
        self._leads = False
        #: Why the turn is not known, as it was last logged.
        self._trouble = ""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._live, name=f"turn-{group}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, after everything that needs the turn has ended."""
        self._stopping.set()
        self._thread.join(SESSION_S)
        if not self._thread.is_alive():
            with contextlib.suppress(BarnabasError):
                self._member.leave()

    def holds(self) -> bool:
        return self._leads and time.monotonic() < self._member.heard_at + SESSION_S

    def _live(self) -> None:
        is_in = False
        while not self._stopping.is_set():
            try:
                if is_in:
                    self._member.heartbeat()
                    self._stopping.wait(_BEAT_S)
                else:
                    self._join()
                    is_in = True
                self._trouble = ""
            except ApiError as error:
                is_in = is_in and error.code not in (
                    ErrorCode.REBALANCE_IN_PROGRESS,
                    ErrorCode.UNKNOWN_MEMBER_ID,
                    ErrorCode.ILLEGAL_GENERATION,
                )
                if error.code is not ErrorCode.REBALANCE_IN_PROGRESS:
                    self._try_again(error)
            except (BrokerUnreachable, ProtocolError) as error:
                self._try_again(error)

    def _try_again(self, error: BarnabasError) -> None:
        """Log a failure and try again; an outage of an hour is one line of the log."""
        if str(error) != self._trouble:
            self._trouble = str(error)
            _log.warning("result of a turn not sent", reason=self._trouble)
        self._stopping.wait(_PAUSE_S)

    def _join(self) -> None:
        joined = self._member.join([(_PROTOCOL, b"")])
        self._member.sync(dict.fromkeys(joined.members, b""))
        if joined.is_leader != self._leads:
            _log.info("turn", has_it=joined.is_leader)
        self._leads = joined.is_leader
