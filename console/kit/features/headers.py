"""The header of an object's pages: its name, its state, three figures, one main action and a menu with the others.

A feature declares an `ObjectHeader`; the actions are the verbs that all features declare for objects of that kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.module_loading import import_string

from console.kit.access.reach import Reach
from console.kit.access.rights import NOT_ALL_TOPICS, Right, reach_of, refusal_of, rights_here
from console.kit.features.addresses import address_of
from console.kit.features.declaration import ObjectHeader, Tab
from console.kit.features.listed import features
from console.kit.features.order import in_order
from console.kit.features.verbs import Verb

_HEADERS = {header.name: header for feature in features() for header in feature.headers}
_VERBS = tuple(verb for verb in in_order(feature.verbs for feature in features()) if verb.button)
_TABS = tuple(tab for tab in in_order(feature.tabs for feature in features()) if tab.shown)
_CHANGES_NOTHING = frozenset({Right.VIEW, Right.RECORDS})


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """`value` is text; `cell` names the figure where it is pushed anew. `tone` is "", warning or critical."""

    label: str
    value: str
    cell: str
    title: str = ""
    tone: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """An action of the header, or, with `why_not`, one that the person cannot take."""

    title: str
    address: str = ""
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What a header tells of one object, by whose `key` addresses name it; empty: by its name.

    `word` is its state, in the `tone` of a badge, which `meaning` explains; empty where the object has none. `rights`
    are the person's on the object, None for those on what the page asked for. `main` is the title of the main action,
    or a link of its own; actions of titles in `without` are not offered. State and figures have the element id
    `live_id`, by which they are pushed; `row` is the id of a row with which they come.
    """

    name: str
    key: str = ""
    word: str = ""
    tone: str = "plain"
    meaning: str = ""
    note: str = ""
    figures: tuple[KeyFigure, ...] = ()
    rights: frozenset[Right] | None = None
    main: str | HeaderLink = ""
    without: frozenset[str] = frozenset()
    process_kind: str = ""
    live_id: str = "object-figures"
    row: str = ""


def unread(facts: HeaderFacts, why: str) -> HeaderFacts:
    """Return `facts` of an object whose cluster cannot be read, which `why` says: its state is unknown."""
    return replace(facts, word="unknown", tone="plain", meaning=why)


@dataclass(frozen=True, slots=True)
class ShownTab:
    """A tab; with `why_not`, one that the person may not open."""

    title: str
    address: str
    is_current: bool
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class ShownHeader:
    """A header as one person sees it."""

    declared: ObjectHeader
    facts: HeaderFacts
    main: HeaderLink | None
    menu: tuple[HeaderLink, ...]
    deletions: tuple[HeaderLink, ...]
    tabs: tuple[ShownTab, ...]


def facts_of(name: str, thing: object, reach: Reach) -> HeaderFacts:
    """Return what the header `name` tells of `thing` to people of that reach."""
    facts: HeaderFacts = _function(_HEADERS[name].facts)(thing, reach)
    return facts


def figures_html(name: str, thing: object, reach: Reach) -> str:
    """Render the state and the figures of the header `name`, to take the place of those on an open page."""
    return render_to_string("components/object-figures.html", {"facts": facts_of(name, thing, reach)})


def shown_header(name: str, thing: object, user: User, read_only: str, place: str) -> ShownHeader:
    """Return the header as `user` sees it on the page `place`. `read_only` says why nothing can be changed now."""
    declared, reach = _HEADERS[name], reach_of(user)
    facts = facts_of(name, thing, reach)
    rights, key = rights_here(user) if facts.rights is None else facts.rights, facts.key or facts.name
    verbs = [
        verb
        for verb in _VERBS
        if verb.of is declared.of
        and verb.process_kind in ("", facts.process_kind)
        and verb.button not in facts.without
        and verb.is_for(rights, reach)
        and not (read_only and verb.right not in _CHANGES_NOTHING)
    ]
    main = _main(facts, verbs, rights, user, read_only, declared)
    others = [verb for verb in verbs if main is None or verb.button != main.title]
    return ShownHeader(
        declared,
        facts,
        main,
        _links((verb for verb in others if not verb.is_deletion), key),
        _links((verb for verb in others if verb.is_deletion), key),
        tuple(_tab(tab, key, rights, place) for tab in _tabs_of(declared, rights)),
    )


def _main(
    facts: HeaderFacts,
    verbs: Iterable[Verb],
    rights: frozenset[Right],
    user: User,
    read_only: str,
    declared: ObjectHeader,
) -> HeaderLink | None:
    """Return the main action, with the reason why not where the person may not take it; None where it is no option."""
    if isinstance(facts.main, HeaderLink):
        return replace(facts.main, why_not=facts.main.why_not or read_only)
    offered = next((verb for verb in verbs if verb.button == facts.main), None)
    if offered is not None:
        return HeaderLink(offered.button, address_of(offered, facts.key or facts.name))
    verb = next((verb for verb in _VERBS if verb.of is declared.of and verb.button == facts.main), None)
    if verb is None or verb.button in facts.without:
        return None
    return HeaderLink(verb.button, why_not=read_only or _why_not(verb, rights, user))


def _why_not(verb: Verb, rights: frozenset[Right], user: User) -> str:
    """Return why a person with these rights on the object may not do what `verb` is about: its role, or its reach."""
    has_right = verb.right in rights and not (verb.by_role and verb.right not in reach_of(user).role)
    return NOT_ALL_TOPICS if has_right and verb.all_topics else refusal_of(user, verb.right)


def _links(verbs: Iterable[Verb], name: str) -> tuple[HeaderLink, ...]:
    return tuple(HeaderLink(verb.button, address_of(verb, name)) for verb in verbs)


def _tabs_of(declared: ObjectHeader, rights: frozenset[Right]) -> Iterable[Tab]:
    return (tab for tab in _TABS if tab.of == declared.name and (tab.right in rights or tab.why_not))


def _tab(tab: Tab, name: str, rights: frozenset[Right], place: str) -> ShownTab:
    if tab.right not in rights:
        return ShownTab(tab.shown, "", False, tab.why_not)
    if tab.query:
        parameter, text = tab.query
        return ShownTab(tab.shown, f"{reverse(tab.route)}?{urlencode({parameter: text.format(name=name)})}", False)
    address = reverse(tab.route, args=[name])
    return ShownTab(tab.shown, address, address == place)


@cache
def _function(name: str) -> Any:
    return import_string(name)
