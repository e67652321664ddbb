"""Views by name: the page of them, opening one, and what is posted from a list."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.features.table import FeatureTable
from console.kit.tables.actions import (
    ViewError,
    do_arrange,
    do_change,
    do_delete,
    do_forget,
    do_save,
    do_set_density,
    may_change,
)
from console.kit.tables.arrangement import COUNT, HIDE, address_of, arranged
from console.kit.tables.declared import TABLES
from console.kit.tables.models import SavedView
from console.kit.tables.queries import view_seen_by, views_seen_by

QUERY_LENGTH_MAX = 4_000
NO_VIEW = "There is no such view."


@dataclass(frozen=True, slots=True)
class TableView:
    view: SavedView
    title: str
    filters: list[tuple[str, str]]
    hidden: str
    may_change: bool


@require_safe
def view_list(request: UserRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    views = views_seen_by(request.user).select_related("owner")
    return render(request, "tables/views.html", {"shown": [_shown(request, item) for item in views]})


def _shown(request: UserRequest, view: SavedView) -> TableView:
    table = TABLES[view.table]
    hidden = ", ".join(title for key, title in table.optional if key in view.hide)
    filters = list(table.filtered(view.parameters).items())
    return TableView(view, table.place.title, filters, hidden, may_change(request.user, view))


@require_safe
def open_view(request: UserRequest, number: int) -> HttpResponse:
    return redirect(address_of(_access(request, number)))


@require_POST
def save(request: UserRequest) -> HttpResponse:
    table, query = _posted(request)
    try:
        arrangement = arranged(table, query, request.user)
        view = do_save(request.user, arrangement, request.POST.get("name", ""), "shared" in request.POST)
    except ViewError as error:
        messages.warning(request, str(error))
        return redirect(_back(table, query))
    messages.success(request, f"The view {view.name} is kept{', for all users' if view.is_shared else ''}.")
    return redirect(address_of(view))


@require_POST
def arrange(request: UserRequest) -> HttpResponse:
    """Store the arrangement and remove it from the address."""
    table, query = _posted(request)
    if "reset" in request.POST:
        do_forget(request.user, table)
    else:
        shown = set(request.POST.getlist("column"))
        hide = [key for key, _ in table.optional if key not in shown]
        do_arrange(request.user, table, hide, request.POST.get(COUNT, ""))
    return redirect(_back(table, query, without=(HIDE, COUNT, "page")))


@require_POST
def set_density(request: UserRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    do_set_density(request.user, request.POST.get("density", ""))
    address = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return redirect(address if is_ours else reverse("overview"))


@require_POST
def change(request: UserRequest, number: int) -> HttpResponse:
    view = _access(request, number)
    try:
        do_change(request.user, view, request.POST.get("name", ""), "shared" in request.POST)
        messages.success(request, f"The view {view.name} was changed.")
    except ViewError as error:
        messages.warning(request, str(error))
    return redirect("views")


@require_POST
def delete(request: UserRequest, number: int) -> HttpResponse:
    view = _access(request, number)
    do_delete(request.user, view)
    messages.success(request, f"The view {view.name} was deleted.")
    return redirect("views")


def _access(request: UserRequest, number: int) -> SavedView:
    """Return the saved view. Nothing in the response tells whether another person keeps a private view of that
    number.
    """
    require(request.user, Right.VIEW)
    view = view_seen_by(request.user, str(number))
    if view is None:
        raise Http404(NO_VIEW)
    return view


def _posted(request: UserRequest) -> tuple[FeatureTable, dict[str, str]]:
    """Return the list, and the parameters of its address."""
    require(request.user, Right.VIEW)
    table = TABLES.get(request.POST.get("table", ""))
    if table is None:
        raise Http404("There is no such list.")
    return table, QueryDict(_query_of(request, reverse(table.name))[:QUERY_LENGTH_MAX]).dict()


def _query_of(request: UserRequest, path: str) -> str:
    """Return the query of the page's address, which a search changes and forms do not have; a browser may not send
    it.
    """
    try:
        left = urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        left = urlsplit("")
    return left.query if (left.netloc, left.path) == (request.get_host(), path) else request.POST.get("query", "")


def _back(table: FeatureTable, query: Mapping[str, str], without: tuple[str, ...] = ()) -> str:
    """Redirect to the list as it was; the query is known by what is left of it."""
    kept = {name: value for name, value in query.items() if name not in without}
    return f"{reverse(table.name)}?{urlencode(kept)}" if kept else reverse(table.name)
