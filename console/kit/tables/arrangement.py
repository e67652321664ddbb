"""How one person sees one list now: what the address says, else what was chosen, else what is delivered."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse

from console.kit.common.user_request import InnerRequest, UserRequest
from console.kit.features.table import ROWS, FeatureTable
from console.kit.tables.declared import TABLES
from console.kit.tables.models import SavedView
from console.kit.tables.queries import preference_of, view_seen_by, views_seen_by

#: What an address says besides a list's own filters.
HIDE, COUNT, VIEW = "hide", "rows", "view"


@dataclass(frozen=True)
class Arrangement:
    """`parameters` are the address's."""

    table: FeatureTable
    hide: tuple[str, ...]
    rows: int
    parameters: Mapping[str, str]
    user: User

    @property
    def hidden_places(self) -> str:
        return self.table.places_of(self.hide)

    @property
    def columns(self) -> list[tuple[str, str, bool]]:
        """Key, title, and whether it is shown, of those one may hide."""
        return [(key, title, key not in self.hide) for key, title in self.table.optional]

    @property
    def row_choices(self) -> tuple[int, ...]:
        return ROWS if self.table.rows else ()

    @property
    def kept_inputs(self) -> list[tuple[str, str]]:
        """Hidden inputs that keep the arrangement through a search."""
        names = [name for name in ("sort", HIDE, COUNT, VIEW) if self.parameters.get(name)]
        return [(name, self.parameters[name]) for name in names]

    @property
    def query(self) -> str:
        return urlencode(self.parameters)

    @property
    def views(self) -> list[SavedView]:
        return list(views_seen_by(self.user).filter(table=self.table.name).select_related("owner"))

    @property
    def view(self) -> SavedView | None:
        """The one that the address names, if it is of this list and the person may see it."""
        view = view_seen_by(self.user, self.parameters.get(VIEW, ""))
        return view if view is not None and view.table == self.table.name else None

    @property
    def is_as_saved(self) -> bool:
        view = self.view
        return view is not None and self.table.filtered(self.parameters) == view.parameters and self._looks_like(view)

    def _looks_like(self, view: SavedView) -> bool:
        return self.table.hidden(view.hide) == self.hide and (view.rows or self.table.rows) == self.rows


def arrangement_of(request: HttpRequest) -> Arrangement | None:
    """Return the arrangement of the list; None on other pages and for API requests."""
    table = TABLES.get(getattr(request.resolver_match, "url_name", None) or "")
    if table is None or not isinstance(request.user, User):
        return None
    return arranged(table, request.GET.dict(), request.user)


def arranged(table: FeatureTable, parameters: Mapping[str, str], user: User) -> Arrangement:
    chosen = preference_of(user).tables.get(table.name, {})
    hide = parameters[HIDE].split(",") if HIDE in parameters else chosen.get("hide", [])
    rows = table.count(parameters.get(COUNT, "")) or table.count(str(chosen.get("rows", ""))) or table.rows
    return Arrangement(table, table.hidden(hide), rows, parameters, user)


def rows_for(request: UserRequest, name: str) -> int:
    """Return the rows on a page of the list for this person."""
    table = TABLES[name]
    if isinstance(request, InnerRequest):
        return table.rows
    return arranged(table, request.GET.dict(), request.user).rows


def address_of(view: SavedView) -> str:
    """Return the view's full address, which can be shared and edited without changing the view."""
    table = TABLES[view.table]
    parameters = table.filtered(view.parameters) | {HIDE: ",".join(table.hidden(view.hide)), VIEW: str(view.pk)}
    if table.rows:
        parameters[COUNT] = str(view.rows or table.rows)
    return f"{reverse(table.name)}?{urlencode(parameters)}"
