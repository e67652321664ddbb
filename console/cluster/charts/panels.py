"""Which charts an object has, in words. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from console.cluster.charts.measures import API, BROKER, CLUSTER, GROUP, PROCESS, SERVER, TOPIC
from console.kit.common.figures import byte_size, duration, grouped, milliseconds, rate, size

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
    #: Each line is an object, which has the same colour in every chart; else each is a measure of one object.
    is_of_objects: bool = False


def cluster_panels() -> list[Panel]:
    of_cluster = partial(panel, CLUSTER, "")
    return [
        of_cluster("Records in per second", "Kafka's own topics are left out", rate, records="records"),
        of_cluster(
            "Bytes in per second", "what the leaders' logs grew by, as they are stored", byte_size, bytes="bytes"
        ),
        of_cluster("Records not read", "by all consumer groups together", in_count, lag="lag"),
        of_cluster(
            "Partitions in trouble",
            "out of sync: short of replicas; leaderless: no client can read or write",
            in_count,
            out_of_sync="out of sync",
            leaderless="leaderless",
        ),
        of_cluster("Brokers registered", "", in_count, brokers="brokers"),
    ]


def topic_panels(name: str) -> list[Panel]:
    return [
        panel(TOPIC, name, "Records per second", "written, and read by groups", rate, records="written", read="read"),
        panel(TOPIC, name, "On disk", "all replicas together", in_bytes, size="bytes"),
        panel(TOPIC, name, "Partitions out of sync", "short of replicas", in_count, out_of_sync="partitions"),
    ]


def broker_panels(broker_id: int, apis: Sequence[str]) -> list[Panel]:
    """Return a broker's panels. `apis`: whose requests are shown, the most used first."""
    name = str(broker_id)
    requests = [Curve(api, API, f"{name}/{api}", "requests") for api in apis[:APIS_SHOWN]]
    panels = [
        panel(BROKER, name, "Records in per second", "to the partitions it leads", rate, records="records"),
        panel(
            BROKER,
            name,
            "Bytes in per second",
            "to the partitions it leads, as they are stored",
            byte_size,
            bytes="bytes",
        ),
        panel(BROKER, name, "On disk", "all its replicas together", in_bytes, size="bytes"),
        panel(
            BROKER,
            name,
            "Partitions",
            "which it leads, and of which its replica is out of sync",
            in_count,
            leaders="leads",
            out_of_sync="out of sync",
        ),
    ]
    if requests:
        panels.append(
            Panel(
                "Requests per second",
                "but those that wait for something to happen",
                rate,
                tuple(requests),
                is_of_objects=True,
            )
        )
    return panels + [_times_panel(name, api) for api in apis[:APIS_SHOWN]]


def _times_panel(broker: str, api: str) -> Panel:
    shares = {share: share for share in ("p50", "p95", "p99")}
    return panel(API, f"{broker}/{api}", f"{api}: time", "of the last minute, at most", milliseconds, **shares)


def group_panels(name: str) -> list[Panel]:
    return [
        panel(GROUP, name, "Records not read", "over all its partitions", in_count, lag="records"),
        panel(GROUP, name, "Behind by", "how long the oldest unread record has waited", in_time, behind="behind"),
        panel(GROUP, name, "Records arriving per second", "in what it reads", rate, arriving="records"),
        panel(GROUP, name, "Members", "", in_count, members="members"),
    ]


def server_panels(address: str) -> list[Panel]:
    return [
        panel(SERVER, address, "Latency", "as the server says", milliseconds, latency="average"),
        panel(SERVER, address, "Connections", "", in_count, connections="connections"),
        panel(SERVER, address, "Znodes", "", in_count, znodes="znodes"),
    ]


def process_panels(name: str) -> list[Panel]:
    return [
        panel(PROCESS, name, "CPU", "of one core, with all it started", in_percent, cpu="CPU"),
        panel(PROCESS, name, "Memory", "with all it started", in_bytes, memory="memory"),
        panel(
            PROCESS,
            name,
            "Started again",
            "how often, ever, because it had ended by itself",
            in_count,
            restarts="times",
        ),
    ]


def panel(kind: str, name: str, title: str, note: str, say: Callable[[float | None], str], /, **measures: str) -> Panel:
    return Panel(title, note, say, tuple(Curve(words, kind, name, item) for item, words in measures.items()))


def in_count(value: float | None) -> str:
    return grouped(None if value is None else round(value))


def in_bytes(value: float | None) -> str:
    return size(None if value is None else round(value))


def in_time(value: float | None) -> str:
    return duration(None if value is None else round(value))


def in_percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1f} %"
