"""Which clients write and read which topics on this broker, and how fast: what every Produce and Fetch adds to. Pure.

A client is a principal, a client id, an address and the library that it named in ApiVersions (KIP-511). Kafka's
quotas measure the same by user and client id, but of no topic. The count of records is one of offsets: what compaction
has taken out counts as well. A batch that an idempotent producer sends again counts again, as bytes did arrive again.

Every 32nd offset of a partition is counted, for 32: so one small request of 32 pays for it, and all clients of the
partition together are counted exactly. The first request of a client in a window is counted as it is, whatever its
offsets, so that a client that writes little is met and counted exactly. Rates follow from where the counts stood one or
two windows ago.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple
from weakref import WeakValueDictionary

from broker.common.limits import CLIENT_ID_LENGTH_MAX
from broker.common.security_limits import (
    CLIENT_SOFTWARE_LENGTH_MAX,
    CLIENT_TRAFFIC_COUNTERS_MAX,
    CLIENT_TRAFFIC_FORGOTTEN_MS,
    CLIENT_TRAFFIC_NEWCOMER_COUNTERS,
    CLIENT_TRAFFIC_WINDOW_MS,
)
from broker.common.shared_budget import Owner, SharedBudget, owner_of

#: Of the offsets of a partition every so many is counted, a power of two.
SAMPLED = 32
#: A rate is never told of less time than this: the first batch of a client is no storm.
_RATE_MS_MIN = 1_000


class Direction(IntEnum):
    """Values as in DescribeClientTraffic."""

    PRODUCE = 0
    FETCH = 1


class ClientIdentity(NamedTuple):
    """What is known of a client. All empty: the clients beyond those that are counted one by one."""

    principal: str  #: Kafka's, type and name
    client_id: str
    host: str  #: the address of its connections
    software_name: str = ""  #: empty: it did not say, as clients from before KIP-511 do not
    software_version: str = ""


OTHER_CLIENTS = ClientIdentity("", "", "")


class TopicTraffic:
    """What one client has written to a topic, or read of it, here."""

    __slots__ = ("_newer", "_older", "_used_ms", "bytes", "records")

    def __init__(self, now_ms: int):
        self.records = 0
        self.bytes = 0
        #: When the last window ended and the one before it, and what was counted by then.
        self._older = self._newer = (now_ms, 0, 0)
        self._used_ms = now_ms

    def add(self, records: int, size: int, *, is_exact: bool) -> None:
        """Add a request: as it is, or, where it is sampled, for as many records as it stands for at least."""
        if is_exact or records >= SAMPLED:
            self.records += records
            self.bytes += size
        else:
            self.records += SAMPLED
            self.bytes += size * SAMPLED // (records or 1)

    def end_window(self, now_ms: int) -> None:
        self._used_ms = self.used_ms(now_ms)
        self._older, self._newer = self._newer, (now_ms, self.records, self.bytes)

    def used_ms(self, now_ms: int) -> int:
        """Return when it was used last, `now_ms` if that was within the window under way."""
        _, records, bytes_ = self._newer
        return now_ms if (records, bytes_) != (self.records, self.bytes) else self._used_ms

    def per_second(self, now_ms: int) -> tuple[float, float]:
        """Return records and bytes per second, over the window under way and the one before."""
        began_ms, records, bytes_ = self._older
        seconds = max(now_ms - began_ms, _RATE_MS_MIN) / 1_000
        return (self.records - records) / seconds, (self.bytes - bytes_) / seconds


class _ByTopic(dict[str, TopicTraffic]):
    """The counters of one client in one direction, each made when the topic is met first."""

    __slots__ = ("_account", "direction", "identity")

    def __init__(self, account: "TrafficCounters", identity: ClientIdentity, direction: Direction):
        self._account = account
        self.identity = identity
        self.direction = direction

    def __missing__(self, topic: str) -> TopicTraffic:
        return self._account.begin(self, topic)


class TrafficOfClient:
    """The counters of one client, shared by all its connections."""

    __slots__ = ("__weakref__", "client_id", "identity", "is_due", "produced", "read")

    def __init__(self, account: "TrafficCounters", identity: ClientIdentity):
        self.identity = identity
        #: Its next request is counted as it is, whatever its offsets are.
        self.is_due = True
        #: As a session compares it with that of a request.
        self.client_id: str | None = identity.client_id
        self.produced = _ByTopic(account, identity, Direction.PRODUCE)
        self.read = _ByTopic(account, identity, Direction.FETCH)

    def __len__(self) -> int:
        """Return how many counters it has."""
        return len(self.produced) + len(self.read)


class TrafficCounters:
    """The counters of all clients, bounded together; each client has a share of them (`SHARED_BOUNDS.md`).

    What finds no room is counted by topic alone, in `others`, until a client that is silent is forgotten.
    """

    def __init__(self, now_ms: Callable[[], int], counters_max: int = CLIENT_TRAFFIC_COUNTERS_MAX):
        """now_ms: the monotonic clock."""
        self._now_ms = now_ms
        self.budget = SharedBudget(counters_max, min(CLIENT_TRAFFIC_NEWCOMER_COUNTERS, counters_max))
        #: Those that a session or a counter holds on to; only the latter are told.
        self._known: WeakValueDictionary[ClientIdentity, TrafficOfClient] = WeakValueDictionary()
        self._counted: dict[ClientIdentity, TrafficOfClient] = {}
        self.others = TrafficOfClient(self, OTHER_CLIENTS)
        self._lacked_room = False

    def of(self, identity: ClientIdentity) -> TrafficOfClient:
        """Return the counters of a client, made if it is new."""
        identity = _bounded(identity)
        client = self._known.get(identity)
        if client is None:
            client = self._known[identity] = TrafficOfClient(self, identity)
        return client

    def clients(self) -> list[TrafficOfClient]:
        """Return those that have written or read of late; `others` is not among them."""
        return list(self._counted.values())

    def idle_max_ms(self) -> int:
        """Return after how long a counter is to be forgotten in the sweep that begins now: at once if room lacked."""
        lacked_room, self._lacked_room = self._lacked_room, False
        return CLIENT_TRAFFIC_WINDOW_MS if lacked_room else CLIENT_TRAFFIC_FORGOTTEN_MS

    def sweep(self, client: TrafficOfClient, idle_max_ms: int) -> None:
        """End the window of a client's counters, and forget those that were idle for so long."""
        now_ms = self._now_ms()
        client.is_due = True
        for counters in (client.produced, client.read):
            for topic, counter in list(counters.items()):
                counter.end_window(now_ms)
                if now_ms - counter.used_ms(now_ms) >= idle_max_ms:
                    del counters[topic]
                    if client is not self.others:
                        self.budget.hold(_owner(client.identity), -1)
        if not len(client):
            self._counted.pop(client.identity, None)

    def begin(self, counters: _ByTopic, topic: str) -> TopicTraffic:
        """Return a new counter of a client, or that of the others where the client holds its share."""
        identity = counters.identity
        if counters.identity is not OTHER_CLIENTS:
            owner = _owner(identity)
            if not self.budget.has_room_for(owner):
                self._lacked_room = True
                return (self.others.read if counters.direction else self.others.produced)[topic]
            self.budget.hold(owner, 1)
            self._counted[identity] = self._known[identity]
        counter = counters[topic] = TopicTraffic(self._now_ms())
        return counter


def _bounded(identity: ClientIdentity) -> ClientIdentity:
    """Return it with the names that clients choose cut to what is kept of them."""
    return identity._replace(
        client_id=identity.client_id[:CLIENT_ID_LENGTH_MAX],
        software_name=identity.software_name[:CLIENT_SOFTWARE_LENGTH_MAX],
        software_version=identity.software_version[:CLIENT_SOFTWARE_LENGTH_MAX],
    )


def _owner(identity: ClientIdentity) -> Owner:
    return owner_of(identity.principal, f"/{identity.host}")


#: What a session has in the place of its client's counters before the first request: the client id of no request.
UNMET = TrafficCounters(lambda: 0, 0).of(OTHER_CLIENTS)
UNMET.client_id = None
