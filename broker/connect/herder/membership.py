"""A worker in its group: a thread that joins, decides for all if it leads, hands its part to the herder, and says that
it is there. What runs may write as long as the group cannot have given it to somebody else."""

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Any

from broker.client.errors import BrokerUnreachable
from broker.client.membership import JoinedGroup, MembershipClient
from broker.common.errors import ApiError, BarnabasError, ErrorCode, ProtocolError
from broker.common.logs import logger
from broker.common.troubles import Troubles
from broker.connect.group.assignment import Balancer
from broker.connect.group.wire import (
    CONFIG_MISMATCH,
    PROTOCOLS,
    Metadata,
    Unit,
    WorkerAssignment,
    decode_assignment,
    decode_metadata,
    encode_assignment,
    encode_metadata,
)
from broker.connect.herder.herder import Herder
from broker.connect.storage.logs import StorageError

#: What is spoken, preferred first; which of them, all members of a round have in common.
_SPOKEN = {"sessioned": ("sessioned", "compatible"), "compatible": ("compatible",)}
#: Between two looks whether the group has still to be believed to hold us.
#: How often `tick` is called at least, and what is waited for here is looked at.
_TICK_S, _LOOK_S = 1.0, 0.05
_PAUSE_S = 0.2
_log = logger("broker.connect")


class GroupWorker:
    def __init__(self, herder: Herder, member: MembershipClient, url: str, tick: Callable[[], None]):
        """`tick` is called each time the group is looked after, and must not wait."""
        settings = herder.settings
        self._tick = tick
        self._spoken = _SPOKEN[settings.connect_protocol]
        self._protocol = self._spoken[0]
        self._herder = herder
        self._member = member
        self._url = url
        self._session_s = settings.session_timeout_ms / 1000
        self._heartbeat_s = settings.heartbeat_interval_ms / 1000
        self._stop_s = settings.task_shutdown_graceful_timeout_ms / 1000 + _PAUSE_S
        self._balancer = Balancer(settings.scheduled_rebalance_max_delay_ms)
        self._running: WorkerAssignment | None = None
        self._completed = -1
        #: Of the last round that this worker decided: what its members had then, and what they were given.
        self._placed: frozenset[Unit] = frozenset()
        self._troubles = Troubles()
        self._join_at = 0.0
        self._beat_at = 0.0
        self._wakes = threading.Event()
        self._stopping = threading.Event()
        self.generation = -1
        self._leads = False
        self.leader_url = ""
        self._thread = threading.Thread(target=self._live, name="group", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Leave the group after the work has stopped; a coordinator that does not answer in time is left to notice."""
        self._stopping.set()
        self._wakes.set()  # wakes it
        self._thread.join(self._session_s)
        if self._thread.is_alive():
            return
        with contextlib.suppress(BarnabasError):
            self._member.leave()

    def holds(self) -> bool:
        """Return whether the membership is still valid.

        The clock runs on while the process is suspended, so one that wakes up late knows it before it writes.
        """
        return bool(time.monotonic() < self._member.heard_at + self._session_s)

    @property
    def is_leader(self) -> bool:
        """Whether this worker leads the group. False as soon as another worker may have been elected."""
        return self._leads and self.holds()

    def may_run(self, connector: str) -> bool:
        """Return whether a worker of the group may still run a task of the connector; answered by the leader.

        A worker that is to run it no more joins the next round when it has stopped, and has it no more there.
        """
        return any(unit.connector == connector and not unit.is_connector for unit in self._placed)

    @property
    def is_sessioned(self) -> bool:
        """Whether the group signs internal requests. True before the first rebalance, as in Kafka's workers."""
        return self._protocol == "sessioned"

    def rejoin(self) -> None:
        self._wakes.set()

    def _live(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._wakes.is_set() or time.monotonic() >= self._join_at:
                    self._join_again()
                else:
                    self._beat()
                    self._tick()
                    self._wakes.wait(self._rest_s())
            except ApiError as error:
                self._refused(error)
            except (BrokerUnreachable, ProtocolError) as error:
                self._say("group not reached", error)
                self._stopping.wait(_PAUSE_S)
            except StorageError as error:
                _log.warning("configurations not read; the worker rejoins", reason=str(error))
                self._lose()
                self._stopping.wait(_PAUSE_S)
            except Exception:  # this thread is what keeps two workers from running the same
                _log.exception("group failed")
                self._lose()
                self._stopping.wait(_PAUSE_S)
            if self._running is not None and not self.holds():
                self._lose()

    def _rest_s(self) -> float:
        """Return the seconds until something is due: a heartbeat, a rejoin, or the end of the session."""
        due_at: float = min(self._beat_at, self._join_at, self._member.heard_at + self._session_s)
        return min(max(due_at - time.monotonic(), _LOOK_S), _TICK_S)

    def _say(self, trouble: str, error: BarnabasError) -> None:
        """Log a trouble once: it is tried five times a second."""
        kind = error.code if isinstance(error, ApiError) else type(error)
        if self._troubles.is_news((trouble, kind), "", now_ms=0):
            _log.warning(trouble, reason=str(error))

    def _reached(self) -> None:
        if len(self._troubles):
            self._troubles = Troubles()
            _log.info("group reached again")

    def _refused(self, error: ApiError) -> None:
        if error.code is not ErrorCode.REBALANCE_IN_PROGRESS:
            self._say("group says no", error)
        if error.code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self._lose()
        elif error.code is not ErrorCode.REBALANCE_IN_PROGRESS:
            self._stopping.wait(_PAUSE_S)
        if error.code not in (
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ):
            self._wakes.set()

    def _lose(self) -> None:
        """Stop all work: another worker may have it (KAFKA-9184)."""
        if self._running is not None and self._running.units:
            _log.warning("out of the group, all work stops", generation=self.generation)
        self._running = None
        self._leads = False
        self.leader_url = ""
        self._wakes.set()
        stopped = self._herder.run_only(frozenset())
        wait([stopped], self._stop_s)
        if not stopped.done():
            _log.error("work does not stop; none of it may write", generation=self.generation)
        elif error := stopped.exception():
            _log.error("work not stopped in order; none of it may write", reason=str(error))

    def _beat(self) -> None:
        now = time.monotonic()
        if now >= self._beat_at:
            self._beat_at = now + self._heartbeat_s
            self._member.heartbeat()
            self._reached()
            self._herder.heard()

    def _join_again(self) -> None:
        """Join again at once after a failed round: a new coordinator may still know the member and answer its
        heartbeats, and the worker would be in the group without any work.
        """
        try:
            self._round()
        except BaseException:
            self._wakes.set()
            raise

    def _round(self) -> None:
        self._wakes.clear()
        self._join_at = float("inf")
        configurations = self._herder.configurations
        metadata = Metadata(self._url, configurations.offset, self._running)
        joined = self._member.join([(item, encode_metadata(metadata, PROTOCOLS[item])) for item in self._spoken])
        self._protocol = joined.protocol
        parts = self._decided(joined) if joined.is_leader else {}
        assignment = decode_assignment(self._member.sync(parts))
        self._reached()
        self.generation = self._completed = joined.generation
        self._leads, self.leader_url = joined.is_leader, assignment.leader_url
        self._beat_at = time.monotonic() + self._heartbeat_s
        if assignment.error == CONFIG_MISMATCH:
            self._herder.config_log.read_to_end()
            self._wakes.set()
            return
        if assignment.config_offset > configurations.offset:
            self._herder.config_log.read_to_end()
        self._running = running = assignment.on_top_of(self._running)
        _log.info("joined", generation=joined.generation, units=len(running.units), delay_ms=running.delay_ms)
        self._wait_beating(self._herder.run_only(running.units))
        if assignment.revoked:
            self._wakes.set()
        elif assignment.delay_ms:
            self._join_at = time.monotonic() + assignment.delay_ms / 1000

    def _wait_beating(self, done: "Future[Any]") -> None:
        """Heartbeat until revoked work has stopped, which must be before the next join."""
        while not done.done():
            with contextlib.suppress(ApiError) if not self._wakes.is_set() else contextlib.nullcontext():
                self._beat()
            self._stopping.wait(_LOOK_S)
        done.result()

    def _decided(self, joined: JoinedGroup) -> dict[str, bytes]:
        members = {member: decode_metadata(data) for member, data in joined.members.items()}
        configurations, version = self._herder.configurations, PROTOCOLS[joined.protocol]
        furthest = max(member.config_offset for member in members.values())
        if furthest > configurations.offset:
            self._herder.config_log.read_to_end()
        common = WorkerAssignment(leader=joined.leader_id, leader_url=self._url, config_offset=configurations.offset)
        owned = {member: item.running.units if item.running else frozenset() for member, item in members.items()}
        self._placed = frozenset().union(*owned.values())
        if furthest > configurations.offset:
            wrong = replace(common, error=CONFIG_MISMATCH)
            return dict.fromkeys(members, encode_assignment(wrong, version))
        now_ms = int(time.monotonic() * 1000)
        decided = self._balancer.assign(now_ms, joined.generation, self._completed, configurations.units(), owned)
        self._placed = self._placed.union(*decided.assigned.values())
        return {
            member: encode_assignment(
                replace(
                    common, units=units - owned[member], revoked=decided.revoked[member], delay_ms=decided.delay_ms
                ),
                version,
            )
            for member, units in decided.assigned.items()
        }
