"""Which charts an object has, in words. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.charts.measures import API, BROKER, CLUSTER, GROUP, SERVER, TOPIC
from console.common.figures import byte_size, duration, grouped, milliseconds, rate, size

#: APIs with a line of their own: the most asked.
APIS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Curve:
    """What is drawn of one series, and its name beside the others."""

    words: str
    kind: str
    name: str
    measure: str


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    note: str
    say: Callable[[float | None], str]
    curves: tuple[Curve, ...]


def cluster_panels() -> list[Panel]:
    def panel(title: str, note: str, say: Callable[[float | None], str], **measures: str) -> Panel:
        return _panel(CLUSTER, "", title, note, say, **measures)

    return [
        panel("Records in per second", "Kafka's own topics are left out", rate, records="records"),
        panel("Bytes in per second", "what the leaders' logs grew by, as they are stored", byte_size, bytes="bytes"),
        panel("Records not read", "by all consumer groups together", _count, lag="lag"),
        panel(
            "Partitions in trouble",
            "out of sync: short of replicas; leaderless: nobody can read or write",
            _count,
            out_of_sync="out of sync",
            leaderless="leaderless",
        ),
        panel("Brokers registered", "", _count, brokers="brokers"),
    ]


def topic_panels(name: str) -> list[Panel]:
    return [
        _panel(TOPIC, name, "Records per second", "written, and read by groups", rate, records="written", read="read"),
        _panel(TOPIC, name, "On disk", "all replicas together", _bytes, size="bytes"),
        _panel(TOPIC, name, "Partitions out of sync", "short of replicas", _count, out_of_sync="partitions"),
    ]


def broker_panels(broker_id: int, apis: Sequence[str]) -> list[Panel]:
    """`apis`: of which requests are told, the most asked first."""
    name = str(broker_id)
    requests = [Curve(each, API, f"{name}/{each}", "requests") for each in apis[:APIS_SHOWN]]
    panels = [
        _panel(BROKER, name, "Records in per second", "to the partitions it leads", rate, records="records"),
        _panel(
            BROKER,
            name,
            "Bytes in per second",
            "to the partitions it leads, as they are stored",
            byte_size,
            bytes="bytes",
        ),
        _panel(BROKER, name, "On disk", "all its replicas together", _bytes, size="bytes"),
        _panel(
            BROKER,
            name,
            "Partitions",
            "which it leads, and of which its replica is out of sync",
            _count,
            leaders="leads",
            out_of_sync="out of sync",
        ),
    ]
    if requests:
        panels.append(
            Panel("Requests per second", "but those that wait for something to happen", rate, tuple(requests))
        )
    return panels + [
        _panel(
            API,
            f"{name}/{each}",
            f"{each}: time",
            "of the last minute, at most",
            milliseconds,
            p50="p50",
            p95="p95",
            p99="p99",
        )
        for each in apis[:APIS_SHOWN]
    ]


def group_panels(name: str) -> list[Panel]:
    return [
        _panel(GROUP, name, "Records not read", "over all its partitions", _count, lag="records"),
        _panel(GROUP, name, "Behind by", "how long the oldest unread record has waited", _time, behind="behind"),
        _panel(GROUP, name, "Records arriving per second", "in what it reads", rate, arriving="records"),
        _panel(GROUP, name, "Members", "", _count, members="members"),
    ]


def server_panels(address: str) -> list[Panel]:
    return [
        _panel(SERVER, address, "Latency", "as the server says", milliseconds, latency="average"),
        _panel(SERVER, address, "Connections", "", _count, connections="connections"),
        _panel(SERVER, address, "Znodes", "", _count, znodes="znodes"),
    ]


def _panel(
    kind: str, name: str, title: str, note: str, say: Callable[[float | None], str], /, **measures: str
) -> Panel:
    return Panel(title, note, say, tuple(Curve(words, kind, name, each) for each, words in measures.items()))


def _count(value: float | None) -> str:
    return grouped(None if value is None else round(value))


def _bytes(value: float | None) -> str:
    return size(None if value is None else round(value))


def _time(value: float | None) -> str:
    return duration(None if value is None else round(value))
