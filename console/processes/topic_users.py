"""What hangs on a topic, for who deletes it or its records: all that *Dependencies* shows beside the groups.

Stream jobs are processes, and brokers tell of clients; what else uses topics is told by the features that know it,
which stand above this one. Who may not see one of them is told that there is one: it suffers all the same, and so
belongs to what is confirmed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.common.hook_point import HookPoint
from console.processes.dependents import wirings
from console.processes.models import ManagedProcess
from console.state.consumers.traffic_edges import traffic_edges

#: A client that has written or read a topic within this time is taken to run: it may pause between two batches.
CLIENT_ACTIVE_MS = 5 * 60_000
#: Sentences of one plan; the rest is counted.
TOLD_MAX = 10


@dataclass(frozen=True, slots=True)
class TopicUser:
    """`label` is its kind and name: stream job clicks-by-page. `process`: what it is to rules; empty: hidden from
    nobody who may see the topic."""

    label: str
    process: str
    runs: bool
    reads: Collection[str] = frozenset()
    writes: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TopicUsage:
    """`clause`: stream job clicks-by-page reads it."""

    clause: str
    runs: bool

    @property
    def confirmed(self) -> str:
        return f"{self.clause}, {'runs' if self.runs else 'at rest'}"


_PLURAL = {"reads": "read", "writes": "write", "reads and writes": "read and write"}
#: What else uses any of some topics.
USERS = HookPoint[Callable[[Collection[str]], Iterable[TopicUser]]]("console.processes.topic_users.USERS")


def uses_of(topics: Collection[str], reach: Reach) -> dict[str, tuple[TopicUsage, ...]]:
    """Return the uses by topic. Those out of `reach` are counted and not named."""
    wanted = frozenset(topics)
    uses: dict[str, list[tuple[TopicUser, str]]] = defaultdict(list)
    for user in (*_streams(), *_clients(wanted), *(item for users_of in USERS for item in users_of(wanted))):
        for topic in wanted.intersection((*user.reads, *user.writes)):
            uses[topic].append((user, _verb(user, topic)))
    return {topic: tuple(_uses(users, reach)) for topic, users in uses.items()}


def sentences(uses: Iterable[TopicUsage], running: str, at_rest: str) -> Iterator[str]:
    """Yield a sentence for each use, which ends with what becomes of a running or a stopped one."""
    uses = list(uses)
    for use in uses[:TOLD_MAX]:
        yield f"{use.clause[0].upper()}{use.clause[1:]}{running if use.runs else at_rest}"
    if len(uses) > TOLD_MAX:
        yield f"So do {len(uses) - TOLD_MAX} more; Dependencies has them."


def _uses(users: Iterable[tuple[TopicUser, str]], reach: Reach) -> Iterator[TopicUsage]:
    hidden: Counter[tuple[str, bool]] = Counter()
    for user, verb in sorted(users, key=lambda user: user[0].label):
        if not user.process or Right.VIEW in reach.rights_on(Resource.PROCESS, user.process):
            yield TopicUsage(f"{user.label} {verb} it", user.runs)
        else:
            hidden[verb, user.runs] += 1
    for (verb, runs), count in sorted(hidden.items()):
        if count == 1:
            yield TopicUsage(f"a process that your rights do not reach {verb} it", runs)
        else:
            yield TopicUsage(f"{count} processes that your rights do not reach {_PLURAL[verb]} it", runs)


def _verb(user: TopicUser, topic: str) -> str:
    return " and ".join(verb for verb, topics in (("reads", user.reads), ("writes", user.writes)) if topic in topics)


def _clients(topics: Collection[str]) -> Iterator[TopicUser]:
    """Yield the clients that wrote or read one of the topics of late and are no members of a group that reads it."""
    since_ms = now_ms() - CLIENT_ACTIVE_MS
    for edge in traffic_edges(EVERYTHING, topics):
        if edge.used_at_ms >= since_ms and not edge.is_group:
            topic = frozenset((edge.topic,))
            name = edge.name or "without a client id"
            yield TopicUser(f"client {name}", "", True, *((), topic) if edge.is_produce else (topic, ()))


def _streams() -> Iterator[TopicUser]:
    for wiring in wirings(ManagedProcess.Kind.STREAM):
        yield TopicUser(wiring.label, wiring.name, wiring.runs, wiring.reads, wiring.writes)
