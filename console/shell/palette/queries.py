"""What is found by what somebody types, nearest first: objects in the person's reach, pages, actions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse

from console.kit.access.places import PagePlace
from console.kit.access.reach import Reach
from console.kit.access.roles import Right
from console.kit.common.cluster_urls import address_in
from console.kit.common.current_cluster import MAIN
from console.kit.common.declared_clusters import DeclaredCluster
from console.kit.features.addresses import address_of
from console.kit.features.declaration import Tab
from console.kit.features.verbs import ObjectKind, Verb
from console.kit.tables.declared import TABLES
from console.kit.tables.models import SavedView
from console.shell.palette.objects import (
    EACH_MAX,
    FOUND_BY_NAME,
    PaletteObject,
    clients_called,
    find_objects,
    groups_of_client,
)
from console.shell.palette.phrases import WORDS_MAX, Phrase, phrases_of
from console.shell.palette.places import ACTIONS, PAGES, TABS, VERBS

TEXT_LENGTH_MAX = 250
SHOWN_MAX = 24
#: Looks into the database for objects, of two statements at most each, for one text.
LOOKUPS_MAX = 16


#: Where the brokers run elsewhere.
_WITHOUT_BROKERS = tuple(action for action in ACTIONS if action.route != "process-add-broker")


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A line of the palette: what it opens, and of what kind that is."""

    kind: str
    title: str
    address: str


def find(
    text: str, reach: Reach, clusters: Sequence[DeclaredCluster] = (), views: QuerySet[SavedView] | None = None
) -> list[PaletteEntry]:
    """Return the entries for the text; without one, the pages. `views` are the person's, `clusters` for several."""
    words = text.lower().split()[:WORDS_MAX]
    entries = chain(
        _clusters(words, clusters),
        _views(words, SavedView.objects.none() if views is None else views),
        _objects(words, reach),
        _places("go to", PAGES, words, reach),
        _places("do", ACTIONS if settings.RUNS_BROKERS else _WITHOUT_BROKERS, words, reach),
    )
    # What would not be shown is not looked for.
    return list(islice(entries, SHOWN_MAX)) or _rules_of_unknown(words, reach)


def _rules_of_unknown(words: list[str], reach: Reach) -> list[PaletteEntry]:
    """Return the search of the ACL rules for a name that nothing else has: rules are not kept here."""
    if len(words) != 1 or not reach.sees_all_names or Right.VIEW not in reach.role:
        return []
    verbs = [verb for verb in VERBS if verb.of is ObjectKind.PRINCIPAL and verb.route == "acl-rules"]
    return [_entry_of(verb, words[0], None) for verb in verbs]


def _clusters(words: list[str], clusters: Sequence[DeclaredCluster]) -> Iterator[PaletteEntry]:
    """Yield clusters by name; all of them, and the page of all, by the word."""
    for cluster in clusters if words else ():
        if all(word in f"cluster {cluster.name} {cluster.title}".lower() for word in words):
            yield PaletteEntry("cluster", cluster.title, address_in(cluster.name, "overview"))
    if clusters and words and all(word in "all clusters compare" for word in words):
        yield PaletteEntry("go to", "All clusters", address_in(MAIN, "clusters"))
        yield PaletteEntry("go to", "Compare two clusters", address_in(MAIN, "cluster-compare"))


def _views(words: list[str], views: QuerySet[SavedView]) -> Iterator[PaletteEntry]:
    """Yield saved views by name, or by the word."""
    matching = [view for view in views if words and _is_meant(view, words)]
    for view in matching[:EACH_MAX]:
        yield PaletteEntry("view", f"{view.name} · {TABLES[view.table].place.title}", reverse("view", args=[view.pk]))


def _is_meant(view: SavedView, words: list[str]) -> bool:
    text = f"view {view.name} {TABLES[view.table].place.title}".lower()
    return any(word in view.name.lower() or word in "views" for word in words) and all(word in text for word in words)


def _places(kind: str, places: Iterable[PagePlace], words: list[str], reach: Reach) -> Iterator[PaletteEntry]:
    for place in places:
        if place.is_for(reach) and place.matches(words):
            yield PaletteEntry(kind, place.title, reverse(place.route))


def _objects(words: list[str], reach: Reach) -> Iterator[PaletteEntry]:
    """Yield objects by name, and actions on those that words name beside a verb."""
    addresses = set()
    for phrase, kind, verbs, tabs in islice(_meanings(words), LOOKUPS_MAX):
        for entry in _of_kind(kind, phrase, verbs, tabs, reach):
            if entry.address not in addresses:
                addresses.add(entry.address)
                yield entry


def _meanings(words: list[str]) -> Iterator[tuple[Phrase, ObjectKind, list[Verb], list[Tab]]]:
    """Yield what the words may mean, with what can be done to such an object: each is one look into the database."""
    for phrase in dict.fromkeys(phrases_of(words)):
        for kind in FOUND_BY_NAME if phrase.kind is None else (phrase.kind,):
            verbs = [] if phrase.is_name_only and kind is not ObjectKind.PRINCIPAL else _verbs_for(kind, phrase)
            tabs = _tabs_for(phrase) if kind is ObjectKind.TOPIC else []
            if phrase.is_name_only or verbs or tabs:
                yield phrase, kind, verbs, tabs


def _of_kind(
    kind: ObjectKind, phrase: Phrase, verbs: list[Verb], tabs: list[Tab], reach: Reach
) -> Iterator[PaletteEntry]:
    for thing in find_objects(kind, phrase.name, reach):
        if phrase.is_name_only and thing.address:
            yield PaletteEntry(thing.kind, thing.title, thing.address)
        for tab in tabs:
            if tab.right in thing.rights:
                yield PaletteEntry(thing.kind, f"{thing.name} › {tab.title}", reverse(tab.route, args=[thing.name]))
        for verb in verbs:
            if _is_offered(verb, thing, phrase.partition, reach):
                yield _entry_of(verb, thing.name, phrase.partition)
    if phrase.is_name_only and kind is ObjectKind.GROUP:
        for group, client_id in groups_of_client(phrase.name, reach):
            yield PaletteEntry("group", f"{group} · client {client_id}", reverse("group", args=[group]))
        for client_id, address in clients_called(phrase.name, reach):
            yield PaletteEntry("client", client_id, address)


def _verbs_for(kind: ObjectKind, phrase: Phrase) -> list[Verb]:
    """Return the verbs that the words of the phrase mean; a partition is only for those that take one."""
    has_partition = phrase.partition is not None
    return [
        verb
        for verb in VERBS
        if verb.of is kind and (verb.partition_in is not None) is has_partition and verb.matches(phrase.rest)
    ]


def _tabs_for(phrase: Phrase) -> list[Tab]:
    if phrase.is_name_only or phrase.partition is not None:
        return []
    return [tab for tab in TABS if all(word in f"{tab.title} {tab.words}" for word in phrase.rest)]


def _is_offered(verb: Verb, thing: PaletteObject, partition: int | None, reach: Reach) -> bool:
    """Return whether the person may do this to the object, and the object is one that it can be done to."""
    if partition is not None and partition >= thing.partition_count:
        return False
    is_for_thing = verb.process_kind in ("", thing.process_kind) and verb.button not in thing.without
    return is_for_thing and verb.is_for(thing.rights, reach)


def _entry_of(verb: Verb, name: str, partition: int | None) -> PaletteEntry:
    address = address_of(verb, name, partition)
    kind = verb.of.value if verb.right in (Right.VIEW, Right.RECORDS) else "do"
    return PaletteEntry(kind, verb.title.format(name=name, partition=partition), address)
