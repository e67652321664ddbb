"""The controller's shell: stands for election, feeds events to the machine one at a time, carries its effects out.

One queue, one consumer. Suspended is not lost: while ZooKeeper is out of reach nothing is decided and what was queued
is dropped; when it is back and the controller epoch still stands, the machine starts over from a fresh reading under
the same epoch. A lost session, or a fence that no longer holds, ends it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from functools import partial
from typing import TypeVar

from broker.common.clock import Clock
from broker.common.cluster import LiveBroker, MemberListeners, TopicAssignment
from broker.common.errors import ApiError, ErrorCode
from broker.common.limits import PARTITIONS_DECIDED_ON_THE_LOOP
from broker.common.logs import logger
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import NO_BROKER, TopicPartition
from broker.controller import effects as do
from broker.controller.controller import Controller
from broker.controller.events import (
    BY_ZNODE,
    BrokersChanged,
    BrokerUpdated,
    ConfigChanged,
    ControllerEvent,
    Elected,
    Election,
    ElectionAsked,
    EligibleLeadersChanged,
    IsrChangesListed,
    LogDirEventsListed,
    ReassignmentsByZnode,
    Resigned,
    Tick,
    TopicRead,
    TopicsListed,
    TopicsToDelete,
)
from broker.controller.leader_rebalance import RebalanceSettings
from broker.net.dialer import Dialer
from broker.runtime.controller.cached_metadata import CachedMetadata
from broker.runtime.controller.channels import ControllerChannels
from broker.runtime.controller.controller_watchdog import ControllerWatchdog
from broker.runtime.controller.election_log import ElectionLog
from broker.runtime.controller.pending_requests import Answer, PendingRequests
from broker.runtime.controller.topic_values import TopicDefaults
from broker.runtime.controller.zookeeper_effects import ControllerZooKeeper
from broker.runtime.periodic import rounds
from broker.zookeeper.admin_requests import read_election_request, read_reassignment_request
from broker.zookeeper.controller_store import ControllerMoved, ControllerStore
from broker.zookeeper.election import (
    ControllerEpoch,
    doubt_of_controller,
    read_controller,
    resign,
    try_become_controller,
)
from broker.zookeeper.errors import ConnectionInterrupted, SessionLost, ZooKeeperError
from broker.zookeeper.session import SessionState, Watcher, ZooKeeperSession
from broker.zookeeper.snapshot import read_snapshot
from broker.zookeeper.store import ClusterStore
from broker.zookeeper.watches import Closable, ConfigChanges, ZnodeWatch

_log = logger(__name__)

_START_OVER_S = 1.0
_GIVE_UP_TIMEOUT_S = 2.0
_TICK_S = 1.0

#: A list, by the kind of its event, or a topic, by its name.
_Watched = type[ControllerEvent] | str
Seen = TypeVar("Seen")


class _Call(Enum):
    """What the queue holds besides events."""

    LOOK = auto()  #: /controller changed, or the connection is back
    STEP_DOWN = auto()  #: the session is lost


class ControllerRuntime:
    """This broker's part in being controller; most of the time, standing by."""

    def __init__(
        self,
        store: ClusterStore,
        broker_id: int,
        clock: Clock,
        dialer: Dialer,
        *,
        defaults: TopicDefaults = TopicDefaults(),
        keeps_eligible: Callable[[], bool] = lambda: False,
        rebalance: RebalanceSettings = RebalanceSettings(),
        listeners: MemberListeners = MemberListeners(),
        cached: CachedMetadata = CachedMetadata(),
    ):
        """`defaults`: of this broker's file. `keeps_eligible`: whether eligible leader replicas are kept (KIP-966)."""
        self._store = store
        self._session = store.session
        self._broker_id = broker_id
        self._clock = clock
        self._zookeeper = ControllerZooKeeper(store, broker_id, defaults, keeps_eligible)
        self._cached = cached
        self._machine = Controller(rebalance)
        self._questions = PendingRequests()
        self._channels = ControllerChannels(broker_id, self._deliver, dialer, listeners)
        self._queue: asyncio.Queue[tuple[int, ControllerEvent | _Watched | _Call]] = asyncio.Queue()
        #: What was last seen of what is watched and stands in the queue.
        self._last_seen: dict[_Watched, ControllerEvent] = {}
        #: Raised whenever what was queued before no longer counts.
        self._generation = 0
        self._is_acting = False
        #: The step that a thread is at.
        self._deciding: asyncio.Future[list[do.ControllerEffect]] | None = None
        self._epoch: ControllerEpoch | None = None
        self._writes: ControllerStore | None = None
        self._list_watches: list[Closable] = []
        self._topic_watches: dict[str, ZnodeWatch[TopicAssignment | None]] = {}
        self._broker_watches: dict[int, ZnodeWatch[LiveBroker | None]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._controller_watch: ZnodeWatch[int] | None = None
        self._controller_id = NO_BROKER
        self._doubts = ControllerWatchdog(self._call_look)
        self.election_log = ElectionLog()

    @property
    def controller_id(self) -> int:
        """The broker that is controller as far as this one has seen, -1 for none."""
        return self._controller_id

    @property
    def foreign_brokers(self) -> frozenset[int]:
        """Ids of another Kafka's brokers that are registered in this ensemble; none while another is controller."""
        return self._store.foreign_brokers if self._is_acting else frozenset()

    @property
    def is_controller(self) -> bool:
        """Whether this broker is controller and able to act."""
        return self._epoch is not None and self._is_acting

    async def ask(self, event_of: Callable[[int], ControllerEvent], timeout_ms: int) -> Answer:
        """Step the event made of a new request's id and wait for its answer.

        ApiError NOT_CONTROLLER, also when this broker ceases to be controller before it has answered;
        REQUEST_TIMED_OUT when that takes too long: what was asked may still be done.
        """
        if not self.is_controller:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        return await self._questions.ask(lambda request_id: self._deliver(event_of(request_id)), timeout_ms)

    async def reassignments(self) -> dict[TopicPartition, ReplicaAssignment]:
        """Return the partitions in reassignment. ApiError NOT_CONTROLLER."""
        while self._deciding is not None:
            await asyncio.wait([self._deciding])
        context = self._machine.context
        if context is None or not self.is_controller:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        return context.reassignments()

    async def start(self) -> None:
        """Stand for election now and whenever there is no controller."""
        self._session.on_state(self._on_session)
        self._tasks += [
            asyncio.get_running_loop().create_task(rounds(one_round)) for one_round in (self._handle_next, self._tick)
        ]
        self._controller_watch = ZnodeWatch(
            self._session, lambda watcher: read_controller(self._session, watcher), self._on_controller
        )

    async def stop(self) -> None:
        """Stop acting and give /controller up, so that another broker can take over at once."""
        if self._controller_watch is not None:
            self._controller_watch.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._doubts.close()
        self._step_down()
        self._channels.close_all()
        # Also if it does not know of an epoch: the answer to its last attempt may be on its way.
        if self._session.state is SessionState.CONNECTED:
            try:
                async with asyncio.timeout(_GIVE_UP_TIMEOUT_S):
                    await resign(self._session)
            except (ZooKeeperError, TimeoutError) as error:
                _log.info("controller not given up; it ends with the session", reason=str(error))

    # -- what comes in, on the loop

    def note_eligible_leaders(self, is_kept: bool) -> None:
        self._deliver(EligibleLeadersChanged(is_kept))

    def _deliver(self, event: ControllerEvent) -> None:
        self._queue.put_nowait((self._generation, event))

    def _deliver_last_seen(self, watched: _Watched, event: ControllerEvent) -> None:
        """Deliver the newest event in place of an earlier one that has not been handled yet: else each reading of the
        topics' list would ask ZooKeeper once more for topics deleted meanwhile.
        """
        if watched not in self._last_seen:
            self._queue.put_nowait((self._generation, watched))
        self._last_seen[watched] = event

    async def _tick(self) -> None:
        await asyncio.sleep(_TICK_S)
        if self.is_controller and self._queue.empty():
            self._deliver(Tick())

    def _on_controller(self, controller_id: int) -> None:
        if controller_id != self._controller_id:
            _log.info("controller is", controller=controller_id)
        self._controller_id = controller_id
        self._call_look()

    def _call_look(self) -> None:
        self._queue.put_nowait((self._generation, _Call.LOOK))

    def _on_session(self, state: SessionState) -> None:
        if state is SessionState.CONNECTED:
            return
        self._is_acting = False
        self._drop_what_is_queued()
        if state is SessionState.LOST:
            self._queue.put_nowait((self._generation, _Call.STEP_DOWN))

    def _drop_what_is_queued(self) -> None:
        self._generation += 1
        self._last_seen.clear()
        self._questions.refuse_all()

    # -- the consumer

    async def _handle_next(self) -> None:
        generation, item = await self._queue.get()
        try:
            await self._handle(generation, item)
        except (ConnectionInterrupted, SessionLost) as error:
            self._is_acting = False
            _log.info("controller interrupted", reason=str(error))
        except ControllerMoved as error:
            _log.warning("another controller has been elected", reason=str(error))
            self._call_look()
            self._step_down()
        except Exception as error:
            _log.error("controller starts over", reason=str(error), kind=type(error).__name__, exc_info=True)
            self._is_acting = False
            await asyncio.sleep(_START_OVER_S)
            self._call_look()

    async def _handle(self, generation: int, item: ControllerEvent | _Watched | _Call) -> None:
        if item is _Call.STEP_DOWN:
            self._step_down()
        elif item is _Call.LOOK:
            await self._look()
        elif generation == self._generation:
            event = self._last_seen.pop(item, None) if isinstance(item, (type, str)) else item
            if self._is_acting and event is not None:
                await self._step(event)

    async def _look(self) -> None:
        """Become controller if there is none; if this broker is controller already, check that it is able to act."""
        epoch = await try_become_controller(self._session, self._broker_id, self._clock.now_ms(), self._epoch)
        if epoch != self._epoch:
            self._step_down()
        if epoch is not None and not self.is_controller:
            await self._become_controller(epoch)
        self._doubts.note(await doubt_of_controller(self._session) if epoch is None else None)

    async def _become_controller(self, epoch: ControllerEpoch) -> None:
        self._drop_what_is_queued()
        self._epoch, self._writes = epoch, ControllerStore(self._store, epoch, is_new=self._epoch is None)
        self._is_acting = True
        self._controller_id = self._broker_id
        self.election_log.begin()
        _log.info("acting as controller", controller_epoch=epoch.epoch)
        self._close_list_watches()
        self._list_watches = [
            self._watch(self._store.brokers, BrokersChanged),
            self._watch(self._store.topic_names, lambda names: TopicsListed(frozenset(names))),
            self._watch(self._store.topics_to_delete, lambda names: TopicsToDelete(frozenset(names))),
            self._watch(self._store.isr_changes, lambda names: IsrChangesListed(frozenset(names))),
            self._watch(self._store.log_dir_events, lambda names: LogDirEventsListed(frozenset(names))),
            ConfigChanges(self._session, self._on_config_changed),
            self._watch_request(read_reassignment_request, ReassignmentsByZnode),
            self._watch_request(
                read_election_request, lambda request: ElectionAsked(BY_ZNODE, Election.PREFERRED, request)
            ),
        ]
        seen = await read_snapshot(self._store)
        epoch = self._epoch = await self._writes.raise_epoch(seen.states.values(), self._cached.controller_epoch())
        min_isr = await self._zookeeper.min_isr_if_kept(seen.topics)
        await self._step(Elected(epoch.epoch, **vars(seen), last_topic_ids=self._cached.topic_ids(), min_isr=min_isr))

    def _watch(
        self, read: Callable[[Watcher], Awaitable[Seen]], event_of: Callable[[Seen], ControllerEvent]
    ) -> ZnodeWatch[Seen]:
        def deliver(seen: Seen) -> None:
            event = event_of(seen)
            self._deliver_last_seen(type(event), event)

        return ZnodeWatch(self._session, read, deliver)

    def _watch_request(
        self,
        read: Callable[[ZooKeeperSession, Watcher], Awaitable[Seen | None]],
        event_of: Callable[[Seen], ControllerEvent],
    ) -> ZnodeWatch[Seen | None]:
        """Watch a znode that exists only while something is requested."""
        return ZnodeWatch(
            self._session,
            lambda watcher: read(self._session, watcher),
            lambda request: None if request is None else self._deliver(event_of(request)),
        )

    def _on_config_changed(self, entity_path: str) -> None:
        entity_type, _, name = entity_path.partition("/")
        if entity_type in ("topics", "brokers"):
            self._deliver(ConfigChanged(name if entity_type == "topics" else None))

    def _step_down(self) -> None:
        if self._epoch is None:
            return
        _log.info("no longer controller", controller_epoch=self._epoch.epoch)
        self._is_acting = False
        self._drop_what_is_queued()
        self._epoch = self._writes = None
        self._close_list_watches()
        for effect in self._machine.step(Resigned(), self._clock.monotonic_ms()):
            self._carry_out_here(effect)

    def _close_list_watches(self) -> None:
        for watch in self._list_watches:
            watch.close()
        self._list_watches = []

    # -- what goes out

    async def _step(self, event: ControllerEvent) -> None:
        """Step, and carry out each effect with all that follows from its outcome before the next."""
        for effect in await self._decide(event):
            if not self._is_acting:
                return
            outcome = await self._carry_out(effect)
            if outcome is not None:
                await self._step(outcome)

    async def _decide(self, event: ControllerEvent) -> list[do.ControllerEffect]:
        """Step the state machine and return its effects; no other task, not even a canceller, looks at it meanwhile."""
        now_ms = self._clock.monotonic_ms()
        if self._machine.reach(event) <= PARTITIONS_DECIDED_ON_THE_LOOP:
            return self._machine.step(event, now_ms)
        self._deciding = asyncio.ensure_future(asyncio.to_thread(self._machine.step, event, now_ms))
        try:
            return await asyncio.shield(self._deciding)
        finally:
            await asyncio.wait([self._deciding])
            self._deciding = None

    async def _carry_out(self, effect: do.ControllerEffect) -> ControllerEvent | None:
        if isinstance(effect, do.StepAgain):
            return effect.event
        if self._carry_out_here(effect):
            return None
        writes = self._writes
        assert writes is not None  # as long as this broker acts
        return await self._zookeeper.carry_out(effect, writes)

    def _carry_out_here(self, effect: do.ControllerEffect) -> bool:
        """Carry out an effect on this process alone; return False for any other effect."""
        match effect:
            case do.OpenChannel(broker):
                self._channels.open(broker)
                if broker.broker_id not in self._broker_watches:
                    read = partial(self._store.broker, broker.broker_id)
                    watch = self._watch_one(read, f"broker {broker.broker_id}", BrokerUpdated)
                    self._broker_watches[broker.broker_id] = watch
            case do.CloseChannel(broker_id):
                self._channels.close(broker_id)
                if broker_id in self._broker_watches:
                    self._broker_watches.pop(broker_id).close()
            case do.SendLeaderAndIsr():
                self._channels.send_leader_and_isr(effect)
            case do.SendUpdateMetadata():
                self._channels.send_update_metadata(effect)
            case do.SendStopReplica():
                self._channels.send_stop_replica(effect)
            case do.RespondToRequest(request_id, answer) | do.AnswerShutdown(request_id, answer):
                self._questions.answer(request_id, answer)
            case do.TellUncleanElections() | do.TellEligibleElections() | do.TellRestorations():
                self.election_log.note(effect)
            case do.WatchTopics(names):
                for name in names - self._topic_watches.keys():
                    self._topic_watches[name] = self._watch_one(partial(self._store.topic, name), name, TopicRead)
            case do.UnwatchTopics(names):
                self.election_log.forget_topics(names)
                for name in names & self._topic_watches.keys():
                    self._topic_watches.pop(name).close()
                    # Else a topic that has gone would be known again, and one made anew under its name never read.
                    self._last_seen.pop(name, None)
            case _:
                return False
        return True

    def _watch_one(
        self,
        read: Callable[[Watcher], Awaitable[Seen | None]],
        watched: str,
        event_of: Callable[[Seen], ControllerEvent],
    ) -> ZnodeWatch[Seen | None]:
        """Watch one znode, which may go and come back."""

        def deliver(seen: Seen | None) -> None:
            if seen is not None:
                self._deliver_last_seen(watched, event_of(seen))

        return ZnodeWatch(self._session, read, deliver)
