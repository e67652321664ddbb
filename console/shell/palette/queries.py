"""What is found by what somebody types, nearest first: objects in the person's reach, pages, actions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from console.ecosystem.connectors.models import Connector
from console.kit.access.filters import within
from console.kit.access.places import Place
from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right
from console.kit.common.cluster_urls import address_in
from console.kit.common.current_cluster import MAIN
from console.kit.common.declared_clusters import Cluster
from console.kit.tables.declared import TABLES
from console.kit.tables.models import SavedView
from console.processes.models import ManagedProcess
from console.shell.palette.places import ACTIONS, PAGES, TABS
from console.state.clusters.access import topics_within
from console.state.clusters.models import Broker
from console.state.consumers.models import ConsumerGroup

TEXT_LENGTH_MAX = 250
EACH_MAX, SHOWN_MAX = 6, 24


@dataclass(frozen=True, slots=True)
class Found:
    kind: str
    title: str
    address: str


def find(
    text: str, reach: Reach, clusters: Sequence[Cluster] = (), views: QuerySet[SavedView] | None = None
) -> list[Found]:
    """Without a text: where one may go. `views` are those of the person, `clusters` too where there are several."""
    words = text.lower().split()[:8]
    found = [
        *_clusters(words, clusters),
        *_views(words, SavedView.objects.none() if views is None else views),
        *_objects(words, reach),
        *_places("go to", PAGES, words, reach),
        *_places("do", ACTIONS, words, reach),
    ]
    return found[:SHOWN_MAX]


def _clusters(words: list[str], clusters: Sequence[Cluster]) -> Iterator[Found]:
    """By their names; all of them, and the page of all, by the word."""
    for each in clusters if words else ():
        if all(word in f"cluster {each.name} {each.title}".lower() for word in words):
            yield Found("cluster", each.title, address_in(each.name, "overview"))
    if clusters and words and all(word in "all clusters compare" for word in words):
        yield Found("go to", "All clusters", address_in(MAIN, "clusters"))
        yield Found("go to", "Compare two clusters", address_in(MAIN, "cluster-compare"))


def _views(words: list[str], views: QuerySet[SavedView]) -> Iterator[Found]:
    """By their names, or by the word."""
    found = [each for each in views if words and _is_meant(each, words)]
    for each in found[:EACH_MAX]:
        yield Found("view", f"{each.name} · {TABLES[each.table].place.title}", reverse("view", args=[each.pk]))


def _is_meant(view: SavedView, words: list[str]) -> bool:
    text = f"view {view.name} {TABLES[view.table].place.title}".lower()
    return any(word in view.name.lower() or word in "views" for word in words) and all(each in text for each in words)


def _places(kind: str, places: Iterable[Place], words: list[str], reach: Reach) -> Iterator[Found]:
    for each in places:
        if each.is_for(reach) and each.matches(words):
            yield Found(kind, each.title, reverse(each.route))


def _objects(words: list[str], reach: Reach) -> Iterator[Found]:
    if not words:
        return
    name, rest = words[0], words[1:]
    topics = _nearest(topics_within(reach), "name", name)
    for topic in topics:
        yield from _of_topic(topic, rest, reach)
    if rest:
        return
    groups = ConsumerGroup.objects.filter(within(reach, Resource.GROUP, "name"))
    for group in _nearest(groups, "name", name):
        yield Found("group", group, reverse("group", args=[group]))
    if Right.VIEW in reach.rights_anywhere:
        yield from _brokers(name)
    processes = ManagedProcess.objects.filter(within(reach, Resource.PROCESS, "name"))
    for process in _nearest(processes, "name", name):
        yield Found("process", process, reverse("process", args=[process]))
    connectors = Connector.objects.filter(within(reach, Resource.PROCESS, "name"))
    for connector in _nearest(connectors, "name", name):
        yield Found("connector", connector, reverse("connector", args=[connector]))


def _of_topic(name: str, rest: list[str], reach: Reach) -> Iterator[Found]:
    """The topic, or those of its tabs that the further words mean."""
    if not rest:
        yield Found("topic", name, reverse("topic", args=[name]))
        return
    rights = reach.rights_on(Resource.TOPIC, name)
    for tab in TABS:
        if tab.right in rights and all(word in tab.title for word in rest):
            yield Found("topic", f"{name} › {tab.title}", reverse(tab.route, args=[name]))


def _brokers(name: str) -> Iterator[Found]:
    """By number, or by host."""
    number = name.removeprefix("broker-").removeprefix("broker")
    chosen = Q(broker_id=int(number)) if number.isdecimal() and len(number) < 10 else Q(host__icontains=name)
    for broker in Broker.objects.filter(chosen)[:EACH_MAX]:
        yield Found("broker", f"{broker.broker_id} {broker.host}", reverse("broker", args=[broker.broker_id]))


def _nearest(rows: QuerySet[Any], field: str, text: str) -> list[str]:
    """Names that begin so before those that only hold it."""
    begins = rows.filter(**{f"{field}__istartswith": text}).order_by(field).values_list(field, flat=True)
    found = list(begins[:EACH_MAX])
    if len(found) < EACH_MAX:
        holds = rows.filter(**{f"{field}__icontains": text}).exclude(**{f"{field}__istartswith": text})
        found += holds.order_by(field).values_list(field, flat=True)[: EACH_MAX - len(found)]
    return found
