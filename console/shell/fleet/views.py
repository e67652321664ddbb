"""The page of all clusters, and the way from a page of one to the same of another."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from console.kit.access.clusters import may_look, visible_clusters
from console.kit.access.rights import REFUSALS, Person, Right, has_right
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import all_clusters, is_main
from console.kit.common.user_request import UserRequest
from console.shell.fleet.kept import added_states
from console.shell.fleet.queries import TITLES, tile_rows, tiles_of
from console.shell.fleet.same_page import address_there

NO_CLUSTER = "There is no such cluster."


@require_safe
def clusters(request: UserRequest) -> HttpResponseBase:
    """Show all clusters to everybody who may view something in any; also with only one."""
    require_any(request.user)
    tiles = tiles_of(request.user)
    if wants_csv(request):
        return csv_response(request, "clusters", TITLES, tile_rows(tiles))
    context = {
        "tiles": tiles,
        "is_of_all_clusters": True,
        "may_add": is_main() and has_right(request.user, Right.ADMINISTER),
    }
    context["added"] = added_states() if context["may_add"] else []
    return render(request, "fleet/clusters.html", context)


@require_safe
def switch(request: UserRequest, cluster: str) -> HttpResponse:
    """Redirect to the same page of another cluster, as far as it exists."""
    require_any(request.user)
    if cluster not in all_clusters() or not may_look(request.user, cluster):
        raise Http404(NO_CLUSTER)
    return redirect(address_there(request.user, cluster, request.GET.get("from", "/")))


def require_any(person: Person) -> None:
    """Require the right to view any cluster. Raises PermissionDenied."""
    if not visible_clusters(person):
        raise PermissionDenied(REFUSALS[Right.VIEW])
