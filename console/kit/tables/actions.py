"""Keeping what somebody chooses. What others see of it, a shared view, is in the audit; it changes no cluster."""

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction

from console.kit.access.rights import Right, has_right
from console.kit.audit.record import record_event
from console.kit.features.table import FeatureTable
from console.kit.tables.arrangement import Arrangement
from console.kit.tables.models import NAME_LENGTH_MAX, VIEWS_MAX, Preference, SavedView

OBJECT_TYPE = "view"


class ViewError(Exception):
    """A sentence for the person."""


def do_set_density(user: User, density: str) -> None:
    if density in Preference.Density.values:
        Preference.objects.update_or_create(user=user, defaults={"density": density})


def do_arrange(user: User, table: FeatureTable, hide: Iterable[str], rows: str) -> None:
    _choose(user, table, {"hide": list(table.hidden(hide)), "rows": table.count(rows)})


def do_forget(user: User, table: FeatureTable) -> None:
    """Reset the table to its default from the next visit on."""
    _choose(user, table, None)


def do_remember(user: User, table: FeatureTable, order: dict[str, str]) -> None:
    _choose(user, table, {"order": order})


@transaction.atomic
def _choose(user: User, table: FeatureTable, values: dict[str, Any] | None) -> None:
    Preference.objects.get_or_create(user=user)
    kept = Preference.objects.select_for_update().get(user=user)
    if values is None:
        kept.tables.pop(table.name, None)
    else:
        kept.tables[table.name] = kept.tables.get(table.name, {}) | values
    kept.save(update_fields=["tables"])


@transaction.atomic
def do_save(user: User, arrangement: Arrangement, name: str, is_shared: bool) -> SavedView:
    """Save a view, replacing the person's own of the same name. Raises ViewError."""
    table, name = arrangement.table, _name(name)
    mine = SavedView.objects.select_for_update().filter(owner=user)
    before = mine.filter(table=table.name, name=name).first()
    if before is None and mine.count() >= VIEWS_MAX:
        raise ViewError(f"You have {VIEWS_MAX} views already. Delete one first.")
    values = {
        "parameters": table.filtered(arrangement.parameters),
        "hide": list(arrangement.hide),
        "rows": arrangement.rows if arrangement.rows != table.rows else 0,
        "is_shared": is_shared,
    }
    view, _ = SavedView.objects.update_or_create(owner=user, table=table.name, name=name, defaults=values)
    _audit(user, "save view", before, view)
    return view


@transaction.atomic
def do_change(user: User, view: SavedView, name: str, is_shared: bool) -> None:
    """Change a view. Raises ViewError, and PermissionDenied if it is another person's."""
    require_to_change(user, view)
    name = _name(name)
    if SavedView.objects.filter(owner=view.owner, table=view.table, name=name).exclude(pk=view.pk).exists():
        raise ViewError(f"There is a view {name} of this list already.")
    before = SavedView.objects.get(pk=view.pk)
    view.name, view.is_shared = name, is_shared
    view.save(update_fields=["name", "is_shared"])
    _audit(user, "change view", before, view)


@transaction.atomic
def do_delete(user: User, view: SavedView) -> None:
    """Delete a view. Raises PermissionDenied if it is another person's."""
    require_to_change(user, view)
    before = SavedView.objects.get(pk=view.pk)
    view.delete()
    _audit(user, "delete view", before, None)


def may_change(user: User, view: SavedView) -> bool:
    return view.owner_id == user.pk or has_right(user, Right.ADMINISTER)


def require_to_change(user: User, view: SavedView) -> None:
    if not may_change(user, view):
        raise PermissionDenied("This view belongs to another user: its owner or an administrator changes it.")


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > NAME_LENGTH_MAX or not name.isprintable():
        raise ViewError(f"A view's name has 1 to {NAME_LENGTH_MAX} characters that can be read.")
    return name


def _audit(user: User, action: str, before: SavedView | None, after: SavedView | None) -> None:
    """Audit an added or removed shared view; private ones are not audited."""
    shown = [item for item in (before, after) if item is not None and item.is_shared]
    if shown:
        record_event(user, action, OBJECT_TYPE, shown[0].name, _as_told(before), _as_told(after))


def _as_told(view: SavedView | None) -> dict[str, object] | None:
    if view is None:
        return None
    filters = " ".join(f"{name}={value}" for name, value in view.parameters.items())
    return {"name": view.name, "list": view.table, "filter": filters, "shared": view.is_shared}
