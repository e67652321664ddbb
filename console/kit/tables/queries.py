"""Reading what somebody has chosen, and the views somebody may open."""

from typing import Any

from django.db.models import Q, QuerySet

from console.kit.access.rights import reach_of
from console.kit.common.kept_statements import PERSON, kept_rows
from console.kit.tables.declared import TABLES
from console.kit.tables.models import Preference, SavedView

_NUMBER_LENGTH_MAX = 15
#: Parameters of lists in which a person types what names may have.
_TYPED = sorted({name for table in TABLES.values() for name in table.filters})


def preference_of(user: Any) -> Preference:
    """Return the person's preference, unsaved if there is none. One query for each request."""
    if not user.is_authenticated:
        return Preference()
    preference = getattr(user, "_console_preference", None)
    if preference is None:
        preference = next(iter(kept_rows(_preferences, person=user.pk)), None) or Preference(user_id=user.pk)
        user._console_preference = preference
    return preference


def _preferences() -> QuerySet[Preference]:
    return Preference.objects.filter(user_id=PERSON)


def views_seen_by(user: Any) -> QuerySet[SavedView]:
    """Return the user's own views and shared ones, of lists that the person may open here.

    What others search for names what may be hidden from this person: then their views with a search are as well.
    """
    reach = reach_of(user)
    open_here = [name for name, table in TABLES.items() if table.place.is_for(reach)]
    shared = Q(is_shared=True)
    if reach.is_limited_somewhere:
        shared &= ~Q(parameters__has_any_keys=_TYPED)
    return SavedView.objects.filter(Q(owner_id=user.pk) | shared, table__in=open_here)


def view_seen_by(user: Any, number: str) -> SavedView | None:
    if not number.isascii() or not number.isdigit() or len(number) > _NUMBER_LENGTH_MAX:
        return None
    return views_seen_by(user).filter(pk=int(number)).select_related("owner").first()
