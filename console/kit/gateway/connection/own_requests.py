"""The requests this process of the console makes, counted by broker and API over the last minute, and bounded.

Our own client tells each request with its bytes and how long it took; librdkafka tells how many of each API, and bytes,
errors and round trips of each broker together. Nothing is done for a request but to count it: `footprint` fetches what
was counted. No broker has more requests of this process under way than `in_flight_max` by each of the two.
"""

import json
import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Protocol
from weakref import WeakSet

from django.conf import settings

from broker.client.errors import BrokerUnreachable
from broker.protocol.api_keys import ApiKey
from console.kit.common.current_cluster import current_cluster

SLOT_MS = 10_000
SLOTS = 6
#: Rows of one slot; a cluster of very many brokers has the rest together.
ROWS_MAX = 1_000
#: Upper bounds of how long a request took, µs: 0.1 ms to 100 s, each a third longer than the one before.
BOUNDS_US = tuple(round(100 * 4 ** (step / 5)) for step in range(51))
#: How often librdkafka tells.
STATISTICS_MS = 5_000
OTHERS = "others"
#: Of `by`: who made them.
OURS, LIBRARY = "console", "librdkafka"
#: What librdkafka tells of all requests to a broker together.
ALL_APIS = ""


@dataclass(slots=True)
class OwnRequestFigures:
    """`buckets`: index of BOUNDS_US → requests that took no longer."""

    count: int = 0
    errors: int = 0
    sent: int = 0
    received: int = 0
    buckets: dict[int, int] = field(default_factory=dict)

    def took(self, micros: float, count: int = 1) -> None:
        at = min(bisect_left(BOUNDS_US, micros), len(BOUNDS_US) - 1)
        self.buckets[at] = self.buckets.get(at, 0) + count

    def add(self, other: "OwnRequestFigures") -> None:
        self.count += other.count
        self.errors += other.errors
        self.sent += other.sent
        self.received += other.received
        for at, count in other.buckets.items():
            self.buckets[at] = self.buckets.get(at, 0) + count


@dataclass(slots=True)
class Slots:
    """Slots of one broker: most under way at once, how many waited for their turn, how long, and in vain."""

    most: int = 0
    waited: int = 0
    waited_ms: float = 0.0
    refused: int = 0

    def add(self, other: "Slots") -> None:
        self.most = max(self.most, other.most)
        self.waited += other.waited
        self.waited_ms += other.waited_ms
        self.refused += other.refused


#: Address of the broker, API, and who made them.
Key = tuple[str, str, str]


@dataclass(slots=True)
class _RequestSlice:
    began_ms: int
    rows: dict[Key, OwnRequestFigures] = field(default_factory=dict)
    slots: dict[str, Slots] = field(default_factory=dict)


class Polled(Protocol):
    """A client of librdkafka, which tells when it is polled."""

    def poll_statistics(self) -> None: ...


class OwnRequests:
    """A Meter of `broker/client`. Thread-safe."""

    def __init__(self, in_flight_max: int = 0, clock_s: Callable[[], float] = time.monotonic):
        """`in_flight_max`: 0 is no limit."""
        self.in_flight_max = in_flight_max
        self.clients: WeakSet[Polled] = WeakSet()
        self._clock_s = clock_s
        self._lock = threading.Condition()
        self._parts: deque[_RequestSlice] = deque(maxlen=SLOTS)
        self._under_way: dict[str, int] = {}

    # What our own client tells ---------------------------------------------------------------------------------------

    @contextmanager
    def turn(self, address: str, timeout_s: float) -> Iterator[None]:
        with self._lock:
            self._await_turn(address, timeout_s)
            now = self._under_way[address] = self._under_way.get(address, 0) + 1
            slots = self._slots(address)
            slots.most = max(slots.most, now)
        try:
            yield
        finally:
            with self._lock:
                self._under_way[address] -= 1
                if not self._under_way[address]:
                    del self._under_way[address]
                self._lock.notify_all()

    def _await_turn(self, address: str, timeout_s: float) -> None:
        if not self.in_flight_max or self._under_way.get(address, 0) < self.in_flight_max:
            return
        began_s = self._clock_s()
        is_free = self._lock.wait_for(lambda: self._under_way.get(address, 0) < self.in_flight_max, max(0.0, timeout_s))
        slots = self._slots(address)
        slots.waited += 1
        slots.waited_ms += 1_000 * (self._clock_s() - began_s)
        if not is_free:
            slots.refused += 1
            raise BrokerUnreachable(f"this console has {self.in_flight_max} requests under way at {address} already")

    def answered(self, address: str, api: ApiKey, sent: int, received: int, seconds: float, *, is_error: bool) -> None:
        with self._lock:
            row = self._row(address, name_of(api), OURS)
            row.count += 1
            row.errors += is_error
            row.sent += sent
            row.received += received
            row.took(1e6 * seconds)

    def failed(self, address: str, api: ApiKey) -> None:
        with self._lock:
            row = self._row(address, name_of(api), OURS)
            row.count += 1
            row.errors += 1

    # What librdkafka tells -------------------------------------------------------------------------------------------

    def note_requests(
        self, address: str, apis: Mapping[str, int], together: OwnRequestFigures, in_flight: int, waiting: int
    ) -> None:
        """Count requests since the last call. `waiting` are for a connection, below the limit of requests."""
        with self._lock:
            for api, count in apis.items():
                self._row(address, api, LIBRARY).count += count
            self._row(address, ALL_APIS, LIBRARY).add(together)
            slots = self._slots(address)
            slots.most = max(slots.most, in_flight)
            slots.waited += waiting if 0 < self.in_flight_max <= in_flight else 0

    def told_nothing(self, api: str, requests: int, received: int, sent: int = 0) -> None:
        """Count requests of a client that ended before it reported which broker they went to."""
        together = OwnRequestFigures(requests, 0, sent, received)
        with self._lock:
            self._row("", api, LIBRARY).count += requests
            self._row("", ALL_APIS, LIBRARY).add(together)

    # What is made of it ----------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return the figures of the last minute, as JSON stores them."""
        with self._lock:
            self._part()
            rows: dict[Key, OwnRequestFigures] = {}
            slots: dict[str, Slots] = {}
            for part in self._parts:
                for key, figures in part.rows.items():
                    rows.setdefault(key, OwnRequestFigures()).add(figures)
                for address, item in part.slots.items():
                    slots.setdefault(address, Slots()).add(item)
            span_ms = max(1_000, self._now_ms() - self._parts[0].began_ms)
        return {
            "span_ms": span_ms,
            "in_flight_max": self.in_flight_max,
            "rows": [[*key, *asdict(item).values()] for key, item in rows.items()],
            "slots": [[address, *asdict(item).values()] for address, item in slots.items()],
        }

    def _now_ms(self) -> int:
        return round(1_000 * self._clock_s())

    def _part(self) -> _RequestSlice:
        now_ms = self._now_ms()
        while self._parts and now_ms - self._parts[0].began_ms >= SLOTS * SLOT_MS:
            self._parts.popleft()
        if not self._parts or now_ms - self._parts[-1].began_ms >= SLOT_MS:
            self._parts.append(_RequestSlice(now_ms))
        return self._parts[-1]

    def _row(self, address: str, api: str, by: str) -> OwnRequestFigures:
        rows, key = self._part().rows, (address, api, by)
        if key not in rows and len(rows) >= ROWS_MAX:
            key = (OTHERS, ALL_APIS if api == ALL_APIS else OTHERS, by)
        return rows.setdefault(key, OwnRequestFigures())

    def _slots(self, address: str) -> Slots:
        slots = self._part().slots
        return slots.setdefault(address if address in slots or len(slots) < ROWS_MAX else OTHERS, Slots())


_SUMS = ("txbytes", "rxbytes", "txerrs", "rxerrs", "req_timeouts")


class LibraryStatistics:
    """`stats_cb` of one client of librdkafka: what it tells are sums since it began."""

    def __init__(self, requests: OwnRequests):
        self._requests = requests
        self._before: dict[str, dict[str, Any]] = {}
        self.has_told = False

    def __call__(self, text: str) -> None:
        self.has_told = True
        for name, now in json.loads(text).get("brokers", {}).items():
            before = self._before.get(name, {})
            self._before[name] = now
            apis = {_api(api): count - before.get("req", {}).get(api, 0) for api, count in now["req"].items()}
            apis = {api: count for api, count in apis.items() if count > 0}
            grown = {sum_: max(0, now[sum_] - before.get(sum_, 0)) for sum_ in _SUMS}
            if not apis and not any(grown.values()):
                continue
            errors = grown["txerrs"] + grown["rxerrs"] + grown["req_timeouts"]
            together = OwnRequestFigures(sum(apis.values()), errors, grown["txbytes"], grown["rxbytes"])
            _take_round_trips(together, now["rtt"])
            self._requests.note_requests(now["nodename"], apis, together, now["waitresp_cnt"], now["outbuf_cnt"])


def _take_round_trips(together: OwnRequestFigures, figures: Mapping[str, int]) -> None:
    """Add round trips of a report, as many below each percentile as it says, so that the result has the same
    percentiles.
    """
    left = count = figures["cnt"]
    for share, micros in ((0.5, figures["p50"]), (0.95, figures["p95"]), (0.99, figures["p99"]), (1.0, figures["max"])):
        upto = count - round(count * share)
        if left > upto:
            together.took(micros, left - upto)
            left = upto


def _api(name: str) -> str:
    """Return an API's name in the protocol."""
    return "ApiVersions" if name == "ApiVersion" else name


@cache
def name_of(api: ApiKey) -> str:
    return ApiKey(api).name.title().replace("_", "")


@cache
def _of(_cluster: str) -> OwnRequests:
    return OwnRequests(settings.REQUESTS_IN_FLIGHT)


def own_requests() -> OwnRequests:
    """Return this process's requests to the current cluster."""
    return _of(current_cluster())


@dataclass(slots=True)
class Process:
    name: str = "command"
    is_polled: bool = False


#: Without somebody who polls again and again what librdkafka tells would pile up: then it tells nothing.
PROCESS = Process()


def begin(name: str) -> None:
    """Set this process's name; `poll_statistics` is called regularly."""
    PROCESS.name, PROCESS.is_polled = name, True


def statistics(every_ms: int = STATISTICS_MS) -> dict[str, Any]:
    """Return the settings that make librdkafka report statistics; none where nothing listens."""
    if not PROCESS.is_polled:
        return {}
    return {"statistics.interval.ms": every_ms, "stats_cb": LibraryStatistics(own_requests())}
