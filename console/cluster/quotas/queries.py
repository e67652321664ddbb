"""Reading quotas for pages, and which of them counts for whom."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.cluster.quotas.amounts import amount, label
from console.cluster.quotas.models import ObservedQuotaUse, QuotaLook, QuotaRow
from console.kit.gateway.quotas.interface import (
    LABEL_ORDER,
    EntityType,
    QuotaEntity,
    QuotaKey,
    Quotas,
    deciding,
    entity_at,
    entity_text,
    order_for,
    order_for_address,
)

ROWS_PER_PAGE = 50
NAME_LENGTH_MAX = 1_024
TITLES = ("order", "whose", *LABEL_ORDER, "nearest_use", "waiting")


@dataclass(frozen=True, slots=True)
class QuotaListQuery:
    search: str = ""
    only_throttled: bool = False
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "QuotaListQuery":
        return cls(
            parameters.get("search", "").strip()[:249],
            parameters.get("throttled") == "on",
            parameters.get("page", "1")[:9],
        )


def look() -> QuotaLook:
    return QuotaLook.objects.first() or QuotaLook()


def chosen(query: QuotaListQuery) -> QuerySet[QuotaRow]:
    words = [Q(words__icontains=part) for part in query.search.split()]
    return QuotaRow.objects.filter(reduce(and_, words, Q()))


def quota_page(query: QuotaListQuery) -> "Page[Any]":
    matching = chosen(query)
    rows = [row for row in matching if row.is_throttled] if query.only_throttled else matching
    return Paginator(rows, ROWS_PER_PAGE).get_page(query.page)


def csv_rows(query: QuotaListQuery) -> Iterator[tuple[object, ...]]:
    for row in chosen(query).iterator():
        if query.only_throttled and not row.is_throttled:
            continue
        seen = row.seen
        nearest = f"{seen[0].who} {seen[0].key} {seen[0].rate} on broker {seen[0].broker_id}" if seen else ""
        limits = (row.values.get(key) for key in LABEL_ORDER)
        yield (row.rank, row.words, *limits, nearest, row.is_throttled)


def stored_quotas() -> Quotas:
    """Return the quotas of all entities as last seen."""
    stored = QuotaRow.objects.values_list("path", "values")
    return {entity: values for path, values in stored if (entity := entity_at(path)) is not None}


def stored_uses() -> list[ObservedQuotaUse]:
    return [use for row in QuotaRow.objects.exclude(uses=[]) for use in row.seen]


def quota_counts() -> dict[str, int]:
    """Return how many entities with quotas name each user, alone or with a client id."""
    named = (name for entity in stored_quotas() for kind, name in entity.parts if kind == EntityType.USER)
    return Counter(name for name in named if name is not None)


def uses_of_user(name: str) -> list[str]:
    """Return the known uses of exactly this user, one clause each."""
    return [
        f"{use.who}: {label(use.key).lower()} {use.rate_text} on broker {use.broker_id}"
        for use in stored_uses()
        if use.user == name and use.rate
    ]


@dataclass(frozen=True, slots=True)
class QuotaStep:
    """One entity that may decide, in the order in which brokers ask."""

    words: str
    text: str
    decides: bool


@dataclass(frozen=True, slots=True)
class QuotaVerdict:
    """For one kind of quota: the entity in effect, and all that were considered."""

    label: str
    text: str
    steps: tuple[QuotaStep, ...]

    @property
    def decider(self) -> str:
        return next((step.words for step in self.steps if step.decides), "")


def verdicts(quotas: Quotas, user: str, client_id: str, ip: str) -> list[QuotaVerdict]:
    """Return the quotas in effect for a client with this `user`, `client_id` and `ip`."""
    quota_verdicts = []
    for key in LABEL_ORDER:
        of_address = key == QuotaKey.CONNECTION_CREATION_RATE
        if of_address and not ip:
            continue
        order = list(order_for_address(ip) if of_address else order_for(user, client_id))
        decider = deciding(quotas, key, iter(order))
        steps = tuple(_step(entity, key, quotas, entity == decider) for entity in order)
        text = "no limit" if decider is None else amount(key, quotas[decider][key])
        quota_verdicts.append(QuotaVerdict(label(key), text, steps))
    return quota_verdicts


@dataclass(frozen=True, slots=True)
class QuotaTable:
    """Kinds of quotas that are decided among the same entities: a row for each, a cell for each kind."""

    title: str
    verdicts: tuple[QuotaVerdict, ...]

    @property
    def rows(self) -> list[tuple[QuotaStep, ...]]:
        return list(zip(*(verdict.steps for verdict in self.verdicts), strict=True))


def tables_of(verdicts: list[QuotaVerdict]) -> list[QuotaTable]:
    of_address = [offer for offer in verdicts if offer.label == label(QuotaKey.CONNECTION_CREATION_RATE)]
    of_client = tuple(verdict for verdict in verdicts if verdict not in of_address)
    return [QuotaTable("The client", of_client), *(QuotaTable("Its address", (item,)) for item in of_address)]


def _step(entity: QuotaEntity, key: str, quotas: Quotas, decides: bool) -> QuotaStep:
    value = quotas.get(entity, {}).get(key)
    return QuotaStep(entity_text(entity), "" if value is None else amount(key, value), decides)
