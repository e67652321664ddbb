"""What the processes have counted, as the page shows it: by process, by broker, by API of a broker. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from console.cluster.brokers.latency import percentile_ms
from console.kit.gateway.connection.own_requests import ALL_APIS, BOUNDS_US, LIBRARY, OwnRequestFigures, Slots

#: A broker that was not told, and one that is none of this cluster's.
NOT_TOLD, ELSEWHERE = "not told", "elsewhere"


@dataclass(frozen=True, slots=True)
class ClientUsageRow:
    """Rates are of about a minute; percentiles are upper bounds in ms, None if unreported."""

    name: str
    by: str
    requests: float
    errors: int
    sent: float | None
    received: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True, slots=True)
class BrokerRows:
    """`share`: of all requests to this broker, 0 to 1; None where it does not tell how many those are."""

    broker: int | None
    address: str
    total: ClientUsageRow
    slots: Slots
    apis: tuple[ClientUsageRow, ...]
    share: float | None = None

    @property
    def name(self) -> str:
        return f"broker {self.broker}" if self.broker is not None else self.address or NOT_TOLD


@dataclass(frozen=True, slots=True)
class ProcessRow:
    process: str
    host: str
    pid: int
    total: ClientUsageRow
    slots: Slots
    in_flight_max: int


@dataclass(slots=True)
class _RequestSum:
    """Sum of several processes: their counts, and requests, bytes sent and received per second."""

    figures: OwnRequestFigures = field(default_factory=OwnRequestFigures)
    per_second: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def add(self, figures: OwnRequestFigures, seconds: float) -> None:
        self.figures.add(figures)
        for at, count in enumerate((figures.count, figures.sent, figures.received)):
            self.per_second[at] += count / seconds

    def row(self, name: str, by: str = "", *, has_bytes: bool = True) -> ClientUsageRow:
        buckets = sorted((BOUNDS_US[at], count) for at, count in self.figures.buckets.items())
        p50, p95, p99 = (percentile_ms(buckets, share, BOUNDS_US[-1]) for share in (0.50, 0.95, 0.99))
        requests, sent, received = self.per_second
        shown = (sent, received) if has_bytes else (None, None)
        return ClientUsageRow(name, by, requests, self.figures.errors, shown[0], shown[1], p50, p95, p99)


def process_rows(usages: Iterable[Mapping[str, Any]]) -> list[ProcessRow]:
    process_rows = []
    for mapping in usages:
        total, slots = _RequestSum(), Slots()
        for _, api, by, figures in _rows(mapping):
            if by != LIBRARY or api == ALL_APIS:
                total.add(figures, mapping["span_ms"] / 1_000)
        for _, one in _slots(mapping):
            slots.add(one)
        row = total.row(mapping["process"])
        process_rows.append(
            ProcessRow(mapping["process"], mapping["host"], mapping["pid"], row, slots, mapping["in_flight_max"])
        )
    return process_rows


def broker_rows(
    usages: Iterable[Mapping[str, Any]], addresses: Mapping[str, int], per_second: Mapping[int, float]
) -> list[BrokerRows]:
    """Return rows by broker. `addresses`: of this cluster's brokers; `per_second`: requests to each that reports. Known
    brokers first.
    """
    totals: dict[str, _RequestSum] = {}
    apis: dict[str, dict[tuple[str, str], _RequestSum]] = {}
    slots: dict[str, Slots] = {}
    for mapping in usages:
        seconds = mapping["span_ms"] / 1_000
        for address, api, by, figures in _rows(mapping):
            if by != LIBRARY or api == ALL_APIS:
                totals.setdefault(address, _RequestSum()).add(figures, seconds)
            if api != ALL_APIS:
                apis.setdefault(address, {}).setdefault((api, by), _RequestSum()).add(figures, seconds)
        for address, one in _slots(mapping):
            slots.setdefault(address, Slots()).add(one)
    broker_rows = []
    for address, total in totals.items():
        broker = addresses.get(address)
        of_apis = [one.row(api, by, has_bytes=by != LIBRARY) for (api, by), one in apis.get(address, {}).items()]
        of_apis = [api for api in of_apis if api.requests or api.errors]
        share = _share(total.per_second[0], per_second.get(broker)) if broker is not None else None
        ordered = tuple(sorted(of_apis, key=lambda api: (-api.requests, api.name, api.by)))
        row = total.row(address)
        if row.requests or row.errors:
            broker_rows.append(BrokerRows(broker, address, row, slots.get(address, Slots()), ordered, share))
    return sorted(broker_rows, key=lambda rows: (rows.broker is None, rows.broker or 0, not rows.address, rows.address))


def _share(own: float, everybodys: float | None) -> float | None:
    """Return our share; both figures are of about a minute, and not of the same one."""
    return min(1.0, own / everybodys) if everybodys else None


def _rows(figures: Mapping[str, Any]) -> Iterable[tuple[str, str, str, OwnRequestFigures]]:
    for address, api, by, count, errors, sent, received, buckets in figures["rows"]:
        yield (
            address,
            api,
            by,
            OwnRequestFigures(count, errors, sent, received, {int(at): n for at, n in buckets.items()}),
        )


def _slots(figures: Mapping[str, Any]) -> Iterable[tuple[str, Slots]]:
    for address, most, waited, waited_ms, refused in figures["slots"]:
        yield address, Slots(most, waited, waited_ms, refused)
