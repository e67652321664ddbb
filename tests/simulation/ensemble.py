"""The ZooKeeper service: sessions with timeouts, watches that fire once, and one order of all transactions.

It is one server that never fails; what is simulated is what brokers see of failures: an ensemble out of reach, and
sessions that end.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from broker.zookeeper import znodes
from broker.zookeeper.errors import NodeExists, NodeMissing, OperationRefused
from broker.zookeeper.session import Delete, Operation, ZnodeCreation
from tests.simulation.timeline import SimulatedClock, Timeline
from tests.simulation.znode_tree import Change, Node, ZnodeTree, parent_of

MACHINE = "zookeeper"

Fire = Callable[[int], None]


@dataclass
class ServerSession:
    """As the ensemble knows it. `watches`: (kind, path) to the numbers of the client's watchers."""

    session_id: int
    password: bytes
    timeout_us: int
    expires_at_us: int
    is_over: bool = False
    #: The connection it is used over now; what an earlier one brings late does not count.
    connection: object = None
    watches: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    fire: Fire = lambda number: None
    hang_up: Callable[[], None] = lambda: None


class Ensemble:
    """Reached by `SimulatedSession` over lanes of the network; everything here happens at one moment."""

    def __init__(self, timeline: Timeline):
        self._timeline = timeline
        self._clock = SimulatedClock(timeline)
        self.tree = ZnodeTree(self._clock.now_ms)
        self.sessions: dict[int, ServerSession] = {}
        self._is_without_quorum = False
        #: Told of each transaction: (zxid, changes).
        self.on_transaction: Callable[[int, list[Change]], None] = lambda zxid, changes: None
        #: Told of sessions that end, and why.
        self.on_session_over: Callable[[int, str], None] = lambda session_id, why: None

    def age_ms(self, node: Node) -> int:
        return self._clock.now_ms() - node.created_at_ms

    # -- sessions

    def session_of(self, broker_id: int) -> ServerSession | None:
        """The one its registration stands for."""
        node = self.tree.nodes.get(znodes.broker_path(broker_id))
        return self.sessions[node.ephemeral_owner] if node else None

    def open(self, timeout_ms: int) -> ServerSession:
        session_id = 0x100000000 + len(self.sessions) + 1
        timeout_us = timeout_ms * 1000
        expires = self._timeline.now_us + timeout_us
        session = ServerSession(session_id, session_id.to_bytes(16), timeout_us, expires)
        self.sessions[session_id] = session
        self._timeline.plan(session.expires_at_us, lambda: self._look_at(session))
        return session

    def find(self, session_id: int, password: bytes) -> ServerSession | None:
        """None if it is over."""
        session = self.sessions.get(session_id)
        return session if session and session.password == password and not session.is_over else None

    def hear(self, session: ServerSession) -> None:
        session.expires_at_us = self._timeline.now_us + session.timeout_us

    def _look_at(self, session: ServerSession) -> None:
        if session.is_over:
            return
        if self._is_without_quorum:
            self.hear(session)
        if session.expires_at_us <= self._timeline.now_us:
            self.end(session, "expired")
        else:
            self._timeline.plan(session.expires_at_us, lambda: self._look_at(session))

    def end(self, session: ServerSession, why: str) -> None:
        """Its ephemeral znodes go in one transaction."""
        if session.is_over:
            return
        session.is_over = True
        session.watches.clear()
        session.hang_up()
        self.on_session_over(session.session_id, why)
        owned = self.tree.owned_by(session.session_id)
        if owned:
            self._commit([Delete(path) for path in owned], session.session_id)

    def lose_quorum(self) -> None:
        """No session ends while there is no quorum: a new leader gives each its whole timeout anew."""
        self._is_without_quorum = True

    def regain_quorum(self) -> None:
        self._is_without_quorum = False
        for session in self.sessions.values():
            self.hear(session)

    # -- requests; each raises the errors of broker/zookeeper/errors.py

    def get(self, session: ServerSession, path: str, watch: int | None):
        znode = self.tree.get(path).as_znode()
        self._watch(session, "data", path, watch)
        return znode

    def exists(self, session: ServerSession, path: str, watch: int | None):
        self._watch(session, "data", path, watch)
        node = self.tree.nodes.get(path)
        return node.as_znode(with_data=False) if node else None

    def children(self, session: ServerSession, path: str, watch: int | None) -> list[str]:
        names = sorted(self.tree.get(path).children)
        self._watch(session, "children", path, watch)
        return names

    def create(self, session: ServerSession, create: ZnodeCreation, *, sequential: bool) -> str:
        if sequential:
            create = ZnodeCreation(self.tree.next_sequential(create.path), create.data, create.ephemeral)
        return self.multi(session, [create])[0]

    def ensure(self, session: ServerSession, path: str) -> None:
        names = path.strip("/").split("/")
        for depth in range(1, len(names) + 1):
            try:
                self.multi(session, [ZnodeCreation("/" + "/".join(names[:depth]))])
            except NodeExists:
                continue

    def multi(self, session: ServerSession, operations: list[Operation]) -> list:
        for operation in operations:
            if isinstance(operation, ZnodeCreation) and operation.ephemeral:
                self._refuse_below_ephemeral(operation.path)
        return self._commit(operations, session.session_id)

    def by_hand(self, operations: list[Operation]) -> None:
        """Commit what a tool or an operator writes, in a session of no broker."""
        self._commit(operations, owner=0)

    def _refuse_below_ephemeral(self, path: str) -> None:
        parent = self.tree.nodes.get(parent_of(path))
        if parent is None:
            raise NodeMissing(path)
        if parent.ephemeral_owner:
            raise OperationRefused(path, "NoChildrenForEphemeralsError")

    def _commit(self, operations: list[Operation], owner: int) -> list:
        results, changes = self.tree.transact(operations, owner)
        self.on_transaction(self.tree.zxid, changes)
        for change in changes:
            self._fire(change)
        return results

    # -- watches

    def _watch(self, session: ServerSession, kind: str, path: str, watch: int | None) -> None:
        if watch is not None:
            session.watches.setdefault((kind, path), []).append(watch)

    def _fire(self, change: Change) -> None:
        keys = [("data", change.path)]
        if change.what != "set":
            keys.append(("children", parent_of(change.path)))
        if change.what == "deleted":
            keys.append(("children", change.path))
        for session in self.sessions.values():
            for key in keys if session.watches else ():
                for number in session.watches.pop(key, ()):
                    session.fire(number)
