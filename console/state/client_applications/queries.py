"""Reading clients for pages: of topics in reach, with names and addresses only for people who may see them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict

from console.kit.access.filters import within
from console.kit.access.reach import Reach, Resource
from console.kit.common.clock import utc
from console.state.client_applications.client_quota import QUOTAS_OF_CLIENTS, ClientQuota
from console.state.client_applications.models import ClientLook, ClientTraffic

ROWS_PER_PAGE = 50
#: Clients that a topic's page shows; the file has all.
TOPIC_CLIENTS_SHOWN = 100
SEARCH_LENGTH_MAX = 249
DIRECTIONS = ("produce", "fetch")
TITLES = (
    "client_id",
    "principal",
    "address",
    "library",
    "library_version",
    "topic",
    "direction",
    "records_per_second",
    "bytes_per_second",
    "last_active",
)
OTHER_CLIENTS = "other clients"
#: The client ids of the console itself begin so.
CONSOLE_CLIENT_ID = "barnabas-console"


@dataclass(frozen=True, slots=True)
class ClientKey:
    """A client as a page names it; principal and host are empty for people who may not see them."""

    client_id: str
    library: str
    principal: str = ""
    host: str = ""


@dataclass(slots=True)
class TopicRate:
    topic: str
    is_produce: bool
    records_per_second: float = 0.0
    bytes_per_second: float = 0.0
    used_at_ms: int = 0

    def add(self, row: ClientTraffic) -> None:
        self.records_per_second += row.records_per_second
        self.bytes_per_second += row.bytes_per_second
        self.used_at_ms = max(self.used_at_ms, row.used_at_ms)


@dataclass(slots=True)
class ClientRow:
    """A client with its rates by topic."""

    key: ClientKey
    #: Only on the list of clients, and for people who see every name.
    quota: ClientQuota | None = None
    rates: dict[tuple[str, bool], TopicRate] = field(default_factory=dict)

    @property
    def produced(self) -> list[TopicRate]:
        return self._of(is_produce=True)

    @property
    def fetched(self) -> list[TopicRate]:
        return self._of(is_produce=False)

    @property
    def is_console(self) -> bool:
        """Whether it is the console itself: it reads records for pages, and is counted among no clients."""
        return self.key.client_id.startswith(CONSOLE_CLIENT_ID)

    def _of(self, *, is_produce: bool) -> list[TopicRate]:
        rates = [rate for rate in self.rates.values() if rate.is_produce is is_produce]
        return sorted(rates, key=lambda rate: (-rate.records_per_second, rate.topic))

    @property
    def records_per_second(self) -> float:
        return sum(rate.records_per_second for rate in self.rates.values())

    @property
    def bytes_per_second(self) -> float:
        return sum(rate.bytes_per_second for rate in self.rates.values())

    @property
    def used_at_ms(self) -> int:
        return max(rate.used_at_ms for rate in self.rates.values())


@dataclass(frozen=True, slots=True)
class ClientListQuery:
    """What the page was asked for; nonsense counts as not asked."""

    search: str = ""
    direction: str = ""
    only_active: bool = False
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "ClientListQuery":
        direction = parameters.get("direction", "")
        return cls(
            parameters.get("search", "").strip()[:SEARCH_LENGTH_MAX],
            direction if direction in DIRECTIONS else "",
            parameters.get("active") == "on",
            parameters.get("page", "1")[:8],
        )


@dataclass(frozen=True, slots=True)
class TopicClients:
    """The clients of one topic in one direction, and why there may be more than these."""

    topic: str
    direction: str
    rows: list[ClientRow]
    look: ClientLook
    shows_addresses: bool

    @property
    def shown(self) -> list[tuple[ClientRow, TopicRate]]:
        return [(row, next(iter(row.rates.values()))) for row in self.rows[:TOPIC_CLIENTS_SHOWN]]

    @property
    def records_per_second(self) -> float:
        return sum(row.records_per_second for row in self.rows)


def last_look() -> ClientLook:
    return ClientLook.objects.first() or ClientLook()


def traffic_within(reach: Reach) -> QuerySet[ClientTraffic]:
    """Return the clients' traffic in topics in reach."""
    return ClientTraffic.objects.filter(within(reach, Resource.TOPIC, "topic"))


def topic_clients(topic: str, direction: str, *, shows_addresses: bool) -> TopicClients:
    """Return the clients that write the topic (`produce`) or read it (`fetch`), the busiest first.

    The caller has checked that the person may see the topic.
    """
    traffic = ClientTraffic.objects.filter(topic=topic, is_produce=direction == "produce")
    rows = client_rows(traffic, shows_addresses=shows_addresses)
    return TopicClients(topic, direction, rows, last_look(), shows_addresses)


def client_rows(traffics: Iterable[ClientTraffic], *, shows_addresses: bool) -> list[ClientRow]:
    """Return one row for each client that a page can tell apart, the busiest first."""
    rows: dict[ClientKey, ClientRow] = {}
    for traffic in traffics:
        key = client_key(traffic, shows_addresses=shows_addresses)
        row = rows.setdefault(key, ClientRow(key))
        place = traffic.topic, traffic.is_produce
        row.rates.setdefault(place, TopicRate(*place)).add(traffic)
    return sorted(rows.values(), key=lambda row: (-row.records_per_second, -row.used_at_ms, row.key.client_id))


def shown_name(traffic: ClientTraffic) -> str:
    """Return the client id as pages write it."""
    return traffic.client_id if traffic.principal else OTHER_CLIENTS


def client_key(traffic: ClientTraffic, *, shows_addresses: bool) -> ClientKey:
    if not traffic.principal:
        return ClientKey(OTHER_CLIENTS, "")
    library = f"{traffic.software_name} {traffic.software_version}".strip()
    if shows_addresses:
        return ClientKey(traffic.client_id, library, traffic.principal, traffic.host)
    return ClientKey(traffic.client_id, library)


def client_page(query: ClientListQuery, reach: Reach) -> Page[ClientRow]:
    page = Paginator(chosen(query, reach), ROWS_PER_PAGE).get_page(query.page)
    if reach.sees_all_names:
        _name_quotas(list(page))
    return page


def _name_quotas(rows: Iterable[ClientRow]) -> None:
    rows = list(rows)
    clients = {_quota_key(row.key) for row in rows}
    for quotas_of in QUOTAS_OF_CLIENTS:
        quotas = quotas_of(clients)
        for row in rows:
            row.quota = quotas.get(_quota_key(row.key), row.quota)


def _quota_key(key: ClientKey) -> tuple[str, str]:
    return key.principal.removeprefix("User:"), key.client_id


def chosen(query: ClientListQuery, reach: Reach) -> list[ClientRow]:
    """Return clients of topics in reach with all they do there, if any of it is searched for."""
    shows_addresses = reach.sees_all_names
    traffic = traffic_within(reach)
    if query.direction:
        traffic = traffic.filter(is_produce=query.direction == "produce")
    rows = client_rows(traffic, shows_addresses=shows_addresses)
    return [
        row for row in rows if _is_searched(row, query.search) and (row.records_per_second or not query.only_active)
    ]


def _is_searched(row: ClientRow, search: str) -> bool:
    topics = (topic for topic, _ in row.rates)
    texts = (row.key.client_id, row.key.library, row.key.principal, row.key.host, *topics)
    return all(any(word in text.lower() for text in texts) for word in search.lower().split())


def csv_rows(rows: Iterable[ClientRow]) -> Iterator[tuple[object, ...]]:
    for row in rows:
        name, _, version = row.key.library.rpartition(" ")
        for rate in (*row.produced, *row.fetched):
            yield (
                row.key.client_id,
                row.key.principal,
                row.key.host,
                name or version,
                version if name else "",
                rate.topic,
                "produce" if rate.is_produce else "fetch",
                round(rate.records_per_second, 2),
                round(rate.bytes_per_second, 1),
                utc(rate.used_at_ms),
            )
