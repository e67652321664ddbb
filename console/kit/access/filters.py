"""A reach as a condition for the database: what a list shows, counts and sorts is chosen there, not afterwards."""

from functools import reduce
from operator import or_

from django.db.models import Q

from console.kit.access import glob_lookup  # noqa: F401  (registers the lookup)
from console.kit.access.internal_names import InternalTopics, copies_of
from console.kit.access.patterns import regex_of
from console.kit.access.reach import Reach, Resource
from console.kit.access.roles import Right


def within(reach: Reach, resource: Resource, field: str, right: Right = Right.VIEW) -> Q:
    """Return a condition for rows whose `field` names an object of `resource` on which `reach` has `right`."""
    if reach.is_unbound:
        return Q()
    chosen = Q() if reach.holds_by_role(resource, right) else _any(field, reach.given(resource, right))
    taken_away = reach.taken_away(resource)
    if resource is Resource.TOPIC and right is Right.RECORDS:
        chosen &= ~named_in(reach.internal, field)
    return chosen & ~_any(field, taken_away) if taken_away else chosen


def named_in(internal: InternalTopics, field: str) -> Q:
    """Return a condition for rows whose `field` names an internal topic."""
    names = internal.read_names()
    by_name = Q(**{f"{field}__iregex": regex_of(internal.patterns)})
    if names:
        by_name |= Q(**{f"{field}__regex": copies_of(names)})
    return (by_name & ~_any(field, internal.exceptions)) | Q(**{f"{field}__in": sorted(names)})


def _any(field: str, patterns: tuple[str, ...]) -> Q:
    return reduce(or_, (Q(**{f"{field}__glob": pattern}) for pattern in patterns), Q(pk__in=()))
