"""The placement page, and the election of preferred leaders: plan, confirm, do."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access.rights import Right, require
from console.brokers.models import Broker
from console.exports.csv_table import csv_response, wants_csv
from console.gateway.errors import GatewayError
from console.placement.actions import do_elect_preferred_leaders
from console.placement.queries import chosen_partitions, election_plan, matrix_page, matrix_rows, placement_facts
from console.topics.export import PARTITION_TITLES, partition_rows

#: Partitions listed one by one on the plan.
MOVES_SHOWN = 100
MOVED_ON = "Leaders have moved since the plan was shown. This is the plan for how it is now; nothing was changed."


@require_safe
def placement(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.VIEW)
    search = request.GET.get("search", "").strip()[:249]
    shows_internal = request.GET.get("internal") == "on"
    if wants_csv(request):
        partitions = chosen_partitions(search, shows_internal).iterator()
        return csv_response(request, "placement", PARTITION_TITLES, partition_rows(partitions))
    page = matrix_page(search, shows_internal, request.GET.get("page", "1"))
    context = {
        "page": page,
        "rows": matrix_rows(list(page)),
        "brokers": Broker.objects.all(),
        "search": search,
        "shows_internal": shows_internal,
        **placement_facts(),
    }
    return render(request, "placement/page.html", context)


@require_http_methods(["GET", "POST"])
def elect(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.OPERATE)
    plan = election_plan()
    error, status = "", 200
    if request.method == "POST":
        if request.POST.get("digest") != plan.digest:
            error, status = MOVED_ON, 409
        elif plan.moves:
            try:
                refused = do_elect_preferred_leaders(request.user, plan)
            except GatewayError as refusal:
                error, status = str(refusal), 422
            else:
                _tell(request, len(plan.moves) - len(refused), refused)
                return redirect("placement")
    context = {
        "plan": plan,
        "error": error,
        "moves": plan.moves[:MOVES_SHOWN],
        "hidden_count": max(0, len(plan.moves) - MOVES_SHOWN),
        "stays": plan.stays[:MOVES_SHOWN],
        "command": f"kafka-leader-election.sh --bootstrap-server {settings.BOOTSTRAP_SERVERS} "
        "--election-type preferred --all-topic-partitions",
    }
    return render(request, "placement/elect.html", context, status=status)


def _tell(request: HttpRequest, elected: int, refused: dict[tuple[str, int], str]) -> None:
    if elected:
        messages.success(
            request, f"{elected} partition{' is' if elected == 1 else 's are'} led by the preferred replica."
        )
    for (topic, partition), why in sorted(refused.items())[:5]:
        messages.error(request, f"{topic}-{partition} was not elected: {why}")
