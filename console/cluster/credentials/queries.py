"""Reading Kafka's users for pages, each with the quotas that name it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import QueryDict

from console.cluster.credentials.models import CredentialsLook, ScramUser
from console.cluster.quotas.queries import quota_counts
from console.kit.gateway.credentials.interface import MECHANISMS

ROWS_PER_PAGE = 50
TITLES = ("user", *MECHANISMS, "quotas", "rules")


@dataclass(frozen=True, slots=True)
class UserListQuery:
    search: str = ""
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "UserListQuery":
        return cls(parameters.get("search", "").strip()[:249], parameters.get("page", "1")[:9])


def look() -> CredentialsLook:
    return CredentialsLook.objects.first() or CredentialsLook()


def chosen(query: UserListQuery) -> QuerySet[ScramUser]:
    return ScramUser.objects.filter(name__icontains=query.search) if query.search else ScramUser.objects.all()


def user_page(query: UserListQuery) -> "Page[Any]":
    page = Paginator(chosen(query), ROWS_PER_PAGE).get_page(query.page)
    page.object_list = with_quotas(page.object_list)
    return page


def with_quotas(users: Iterable[ScramUser]) -> list[ScramUser]:
    """Annotate users with `quota_count`: the entities with quotas that name the user, alone or with a client id."""
    scram_users, counts = list(users), quota_counts()
    for user in scram_users:
        user.quota_count = counts.get(user.name, 0)
    return scram_users


def csv_rows(query: UserListQuery) -> Iterator[tuple[object, ...]]:
    counts = quota_counts()
    for user in chosen(query).iterator():
        iterations = (user.mechanisms.get(name) for name in MECHANISMS)
        yield (user.name, *iterations, counts.get(user.name, 0), user.rule_count)
