"""What the pages show: subjects of a list, one with all around it, and who uses it; each cut to a reach."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import QueryDict

from console.cluster.schemas.access import context_of, is_within, topic_of
from console.cluster.schemas.client import registry_client
from console.cluster.schemas.diff import DiffRow, is_cut, laid_out, rows_of
from console.cluster.schemas.registry import NAMES, RegisteredText, RegistryGateway, TextReference, subject_row
from console.kit.access.reach import Reach
from console.kit.gateway.errors import RefusedError
from console.state.clusters.access import topics_within
from console.state.consumers.access import groups_within, partitions_within

NAME_LENGTH_MAX = 1_024
#: Three questions for each row of a page: so many rows are asked for at one time.
_ASKED_AT_ONCE = 6
#: Named on a page; of more only how many.
USERS_NAMED_MAX = 50
VERSIONS_OFFERED_MAX = 200


@dataclass(frozen=True, slots=True)
class SubjectQuery:
    search: str = ""
    deleted: bool = False
    page: str = "1"

    @classmethod
    def parse(cls, parameters: QueryDict) -> "SubjectQuery":
        search = parameters.get("search", "").strip()[:NAME_LENGTH_MAX]
        return cls(search, parameters.get("deleted") == "on", parameters.get("page", "1")[:9])


def subject_page_of(query: SubjectQuery, reach: Reach, rows: int, *, fresh: bool = False) -> "Page[Any]":
    """Return a page of subjects, chosen by name; only that page's subjects are read.

    `fresh`: without the cached names. Raises GatewayError.
    """
    client = registry_client()
    words = query.search.lower().split()
    names = [
        name
        for name in NAMES.names(client, deleted=query.deleted, fresh=fresh)
        if all(word in name.lower() for word in words) and is_within(reach, name)
    ]
    page: Page[Any] = Paginator(names, rows).get_page(query.page)
    gateway = RegistryGateway(client)
    levels = {context: gateway.context_level(context) or "" for context in {context_of(name)[0] for name in page}}
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as threads:
        page.object_list = list(
            threads.map(
                lambda name: subject_row(RegistryGateway(client), name, levels[context_of(name)[0]]), page.object_list
            )
        )
    return page


@dataclass(frozen=True, slots=True)
class VersionComparison:
    """Two versions of a subject, or one where there is no other."""

    old: RegisteredText | None
    new: RegisteredText
    rows: Sequence[DiffRow]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class SubjectView:
    name: str
    versions: Sequence[int]
    deleted: frozenset[int]
    comparison: VersionComparison
    level: str | None
    #: Where its ids count; empty: the default one.
    context: str
    mode: str | None
    #: What holds where the subject says nothing of its own.
    default_level: str
    default_mode: str
    references: Sequence[TextReference]
    hidden_references: int
    referrers: Sequence[tuple[str, int]]
    hidden_referrers: int

    @property
    def is_deleted(self) -> bool:
        return not set(self.versions) - self.deleted


def subject_view(gateway: RegistryGateway, name: str, reach: Reach, wanted: QueryDict) -> SubjectView:
    """Raises GatewayError; RefusedError for a subject that is not there."""
    every = gateway.versions(name, deleted=True)
    live = _live_versions(gateway, name)
    new = _chosen(wanted.get("to", ""), every) or (live or every)[-1]
    before = [item for item in every if item < new]
    old = _chosen(wanted.get("from", ""), every) or (before[-1] if before else None)
    comparison = _compared(gateway, name, old if old != new else None, new)
    references = [reference for reference in comparison.new.references if is_within(reach, reference.subject)]
    context, _ = context_of(name)
    referrers = [
        place for referrer in gateway.referrers(name, new) for place in gateway.places(referrer, context=context)
    ]
    seen = sorted({referrer for referrer in referrers if is_within(reach, referrer[0])})
    return SubjectView(
        name=name,
        versions=every[-VERSIONS_OFFERED_MAX:],
        deleted=frozenset(every) - frozenset(live),
        comparison=comparison,
        level=gateway.level(name),
        context=context,
        mode=gateway.mode(name),
        default_level=gateway.context_level(context) or gateway.level() or "",
        default_mode=gateway.mode() or "",
        references=references,
        hidden_references=len(comparison.new.references) - len(references),
        referrers=seen,
        hidden_referrers=len(set(referrers)) - len(seen),
    )


@dataclass(frozen=True, slots=True)
class Users:
    """The topics whose records use the schema, by its subject's name, and the groups that read them."""

    topics: Sequence[str]
    groups: Sequence[str]
    more_groups: int
    strategy: str


def users_of(name: str, reach: Reach) -> Users:
    topic, strategy = topic_of(name), "TopicNameStrategy"
    seen = topics_within(reach)
    if topic is not None:
        topics = list(seen.filter(name=topic).values_list("name", flat=True))
    else:
        strategy = "TopicRecordNameStrategy"
        topics = [item for item in seen.values_list("name", flat=True) if name.startswith(f"{item}-")]
        strategy = strategy if topics else "RecordNameStrategy"
    readers = partitions_within(reach).filter(topic__in=topics[:USERS_NAMED_MAX]).values("group")
    groups = groups_within(reach).filter(pk__in=readers).order_by("name").values_list("name", flat=True)
    count = groups.count()
    named = list(groups[:USERS_NAMED_MAX])
    return Users(topics[:USERS_NAMED_MAX], named, count - len(named), strategy)


def _live_versions(gateway: RegistryGateway, name: str) -> list[int]:
    try:
        return gateway.versions(name)
    except RefusedError as error:
        if error.code == "40401":
            return []
        raise


def _chosen(text: str, versions: Sequence[int]) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 and int(text) in versions else None


def _compared(gateway: RegistryGateway, name: str, old: int | None, new: int) -> VersionComparison:
    one, other = gateway.version(name, old) if old is not None else None, gateway.version(name, new)
    texts = laid_out(one.text) if one else "", laid_out(other.text)
    return VersionComparison(one, other, rows_of(*texts) if one else rows_of(texts[1], texts[1]), is_cut(*texts))
