"""The placement page, and the election of preferred leaders: plan, confirm, do."""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.brokers.state_names import with_state_names
from console.cluster.placement.actions import do_elect_preferred_leaders
from console.cluster.placement.export import MOVE_TITLES, REASSIGNMENT_TITLES, move_rows, reassignment_rows
from console.cluster.placement.queries import (
    chosen_partitions,
    election_plan,
    matrix_page,
    matrix_rows,
    moves_facts,
    moves_within,
    placement_facts,
    reassignments_within,
)
from console.cluster.topics.export import PARTITION_TITLES, partition_rows
from console.kit.access.rights import Right, reach_of, require
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.plans.apply import Refusals
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.state.clusters.models import Broker

#: Partitions listed one by one on the plan.
MOVES_SHOWN = 100


@require_safe
def placement(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    search = request.GET.get("search", "").strip()[:249]
    shows_internal = request.GET.get("internal") == "on"
    reach = reach_of(request.user)
    if wants_csv(request):
        return _file(request, search, shows_internal)
    page = matrix_page(search, shows_internal, request.GET.get("page", "1"), reach)
    context = {
        "page": page,
        "rows": matrix_rows(list(page)),
        "brokers": with_state_names(Broker.objects.all(), reach),
        "search": search,
        "shows_internal": shows_internal,
        **placement_facts(reach),
        **moves_facts(reach),
    }
    return render(request, "placement/page.html", context)


def _file(request: UserRequest, search: str, shows_internal: bool) -> HttpResponseBase:
    """Return a file. `table` chooses moves or reassignments; otherwise it is the matrix's data."""
    reach = reach_of(request.user)
    match request.GET.get("table"):
        case "moves":
            return csv_response(request, "moves", MOVE_TITLES, move_rows(moves_within(reach).iterator()))
        case "reassignments":
            rows = reassignment_rows(reassignments_within(reach))
            return csv_response(request, "reassignments", REASSIGNMENT_TITLES, rows)
        case _:
            partitions = chosen_partitions(search, shows_internal, reach).iterator()
            return csv_response(request, "placement", PARTITION_TITLES, partition_rows(partitions))


@require_http_methods(["GET", "HEAD", "POST"])
def elect(request: UserRequest) -> HttpResponse:
    require(request.user, Right.OPERATE)
    election = election_plan(reach_of(request.user))
    plan = election.as_plan(here.BOOTSTRAP_SERVERS)
    with refusable() as answer:
        if request.method == "POST":
            refused = do_elect_preferred_leaders(request.user, plan, election, Confirmation.parse(request.POST))
            _add_messages(request, len(plan.lines) - len(refused), refused)
            return redirect("placement")
    context = {
        "plan": plan,
        "election": election,
        "verb": f"Elect {len(plan.lines)} leader{'' if len(plan.lines) == 1 else 's'}",
        "error": answer.error,
        "moves": election.moves[:MOVES_SHOWN],
        "hidden_count": max(0, len(election.moves) - MOVES_SHOWN),
        "stays": election.stays[:MOVES_SHOWN],
    }
    return render(request, "placement/elect.html", context, status=answer.status)


def _add_messages(request: UserRequest, elected: int, refused: Refusals) -> None:
    if elected:
        messages.success(
            request, f"{elected} partition{' is' if elected == 1 else 's are'} led by the preferred replica."
        )
    for name, why in sorted(refused.items())[:5]:
        messages.warning(request, f"{name} was not elected: {why}")
