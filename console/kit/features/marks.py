"""The counts behind the entries of the sidebar, for one person."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.utils.module_loading import import_string

from console.kit.access.reach import EVERYTHING, Reach
from console.kit.access.rights import reach_of
from console.kit.features.declaration import EntryMark, SidebarEntry
from console.kit.features.listed import features

_MARKS = {mark.entry: mark for feature in features() for mark in feature.marks}


@dataclass(frozen=True, slots=True)
class ShownMark:
    """`key` is part of the element's id; the mark is hidden while `count` is 0, a question mark while it is None."""

    key: str
    count: int | None
    words: str


def mark_of(entry: SidebarEntry, user: User, unknown: Collection[str]) -> ShownMark | None:
    """Return the mark of `entry` for `user`, None where no feature declares one; `unknown` tiers have no counts."""
    mark = _MARKS.get(entry)
    return _shown(mark, user, unknown) if mark else None


def shared_marks_html(reach: Reach, unknown: Collection[str]) -> str:
    """Render the marks that are the same for all people of this reach, to take the place of those on an open page."""
    return _html(_shown_to(mark, reach, unknown) for mark in _MARKS.values() if not mark.is_personal)


def personal_marks_html(user: User) -> str:
    """Render the marks of one person, likewise; none of them is counted by a tier."""
    return _html(_shown_to(mark, user, ()) for mark in _MARKS.values() if mark.is_personal)


def _html(marks: Iterable[ShownMark]) -> str:
    return "".join(render_to_string("components/mark.html", {"mark": mark}) for mark in marks)


def counts_for_all(unknown: Collection[str]) -> dict[SidebarEntry, int | None]:
    """Return the counts without limits of rights, of the marks that are the same for everybody who sees everything."""
    return {
        entry: None if mark.tier in unknown else _function(mark.count)(EVERYTHING)
        for entry, mark in _MARKS.items()
        if not mark.is_personal
    }


def _shown(mark: EntryMark, user: User, unknown: Collection[str]) -> ShownMark:
    return _shown_to(mark, user if mark.is_personal else reach_of(user), unknown)


def _shown_to(mark: EntryMark, counted_for: User | Reach, unknown: Collection[str]) -> ShownMark:
    count = None if mark.tier in unknown else _function(mark.count)(counted_for)
    return ShownMark(mark.entry.name.lower(), count, mark.words)


@cache
def _function(name: str) -> Any:
    return import_string(name)
