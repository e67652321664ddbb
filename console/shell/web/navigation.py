"""The sidebar, the tabs of its current entry and the account menu as a person is shown them, from what the features
declare.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.urls import reverse

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of
from console.kit.common.cluster_urls import place_of
from console.kit.features.declaration import PageLink, Section, SidebarEntry
from console.kit.features.listed import features
from console.kit.features.marks import ShownMark, mark_of
from console.kit.features.order import in_order

_LINKS = in_order(feature.links for feature in features())
#: The entries in the bar of a phone; the others are behind its *More*.
_IN_BAR = frozenset(
    {SidebarEntry.OVERVIEW, SidebarEntry.TOPICS, SidebarEntry.GROUPS, SidebarEntry.BROKERS, SidebarEntry.ALERTS}
)


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page as a tab. `is_current`: the reader is on it, or on a page below its address."""

    title: str
    address: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry of the sidebar; its link leads to the first of its pages. `icon` is a symbol of `img/icons.svg`."""

    title: str
    icon: str
    is_in_bar: bool
    mark: ShownMark | None
    pages: tuple[ShownPage, ...]

    @property
    def address(self) -> str:
        return self.pages[0].address

    @property
    def is_current(self) -> bool:
        return any(page.is_current for page in self.pages)


@dataclass(frozen=True, slots=True)
class Navigation:
    """Sections are (heading, entries). `tabs` are empty below the top of a page, and where there is one page alone."""

    sections: list[tuple[str, list[ShownEntry]]]
    tabs: tuple[ShownPage, ...]
    account: tuple[ShownPage, ...]


def navigation_of(context: Mapping[str, Any]) -> Navigation:
    """Return what the person sees. `context` has the variables of `access/context.py` and the cluster's."""
    seen = [link for link in _LINKS if _is_for(link, context)]
    here = context.get("place", "")
    addresses = {link: reverse(link.route) for link in seen}
    places = {link: place_of(address) for link, address in addresses.items()}
    current = _current(seen, places, here)
    pages: dict[SidebarEntry, tuple[ShownPage, ...]] = {
        entry: tuple(ShownPage(link.title, addresses[link], link is current) for link in seen if link.entry is entry)
        for entry in SidebarEntry
    }
    is_at_top = current is not None and (here == places[current] or here in current.also_at)
    tabs = pages[current.entry] if current is not None and is_at_top and current.entry.section is not None else ()
    cluster = context.get("cluster")
    counted_for, unknown = (context["user"], cluster.unknown_tiers) if cluster else (None, ())
    return Navigation(
        [(section.value, shown) for section in Section if (shown := _entries_in(section, pages, counted_for, unknown))],
        tabs if len(tabs) > 1 else (),
        pages[SidebarEntry.ACCOUNT],
    )


def _current(seen: Sequence[PageLink], places: Mapping[PageLink, str], here: str) -> PageLink | None:
    """Return the link whose page is `here`, or lies the closest above it; None if that is none of them."""
    for link in seen:
        if here in link.also_at:
            return link
    above = [link for link in seen if here == places[link] or (places[link] != "/" and here.startswith(places[link]))]
    return max(above, key=lambda link: len(places[link]), default=None)


def _entries_in(
    section: Section,
    pages: Mapping[SidebarEntry, tuple[ShownPage, ...]],
    counted_for: User | None,
    unknown: Collection[str],
) -> list[ShownEntry]:
    """Return the entries that have pages; without marks where the person may not look at the cluster."""
    return [
        ShownEntry(
            entry.title,
            entry.name.lower(),
            entry in _IN_BAR,
            mark_of(entry, counted_for, unknown) if counted_for else None,
            pages[entry],
        )
        for entry in SidebarEntry
        if entry.section is section and pages[entry]
    ]


def _is_for(link: PageLink, context: Mapping[str, Any]) -> bool:
    if not all(context.get(name) for name in link.needs):
        return False
    if link.resource is not None and link.resource not in context.get("sees", ()):
        return False
    return not link.process or Right.VIEW in reach_of(context["user"]).rights_on(Resource.PROCESS, link.process)
