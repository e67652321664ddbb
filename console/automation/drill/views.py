"""The drills there were, the plan of one, and its report, which is live while it goes on."""

from collections.abc import Iterator

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.automation.drill.access import access_drill, access_drills
from console.automation.drill.actions import do_begin, do_stop
from console.automation.drill.forms import DrillForm
from console.automation.drill.guarding import NOT_ALLOWED
from console.automation.drill.models import Drill
from console.automation.drill.plan import UNDER_WAY, drill_plan
from console.automation.drill.queries import find_target, outlook
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, require_on
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.plans.plan import Confirmation, ObstacleError
from console.kit.plans.views import is_confirmed, refusable

TITLES = ("began_ms", "what", "seconds", "state", "sentence", "by")
ROW_TITLES = ("figure", "expected", "measured", "verdict")


@require_safe
def drills(request: UserRequest) -> HttpResponseBase:
    access_drills(request.user)
    if wants_csv(request):
        return csv_response(request, "drills", TITLES, map(_cells, Drill.objects.all()))
    context = {"drills": Drill.objects.all(), "not_allowed": "" if settings.DRILLS else NOT_ALLOWED}
    return render(request, "drill/page.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def begin(request: UserRequest) -> HttpResponse:
    access_drills(request.user, Right.OPERATE)
    parameters = request.POST if request.method == "POST" else request.GET if "fault" in request.GET else None
    form = DrillForm(parameters)
    context: dict[str, object] = {"form": form, "not_allowed": "" if settings.DRILLS else NOT_ALLOWED, "error": ""}
    if parameters is None or not form.is_valid():
        return render(request, "drill/begin.html", context, status=422 if parameters is not None else 200)
    with refusable() as answer:
        if _plan(request, form, context):
            newest = Drill.objects.first()
            return redirect("drill", newest.pk) if newest else redirect("drills")
    return render(request, "drill/begin.html", context | {"error": answer.error}, status=answer.status)


def _plan(request: UserRequest, form: DrillForm, context: dict[str, object]) -> bool:
    """Put the plan into `context`; True if it was confirmed and has begun. Raises NotConfirmedError."""
    fault, whom, name, seconds = form.wanted
    target = find_target(whom, name)
    if target.process is None:
        raise ObstacleError(target.why)
    require_on(request.user, Resource.PROCESS, target.process.name, Right.OPERATE)
    seen = outlook(target.process, fault, seconds)
    plan = drill_plan(fault, target, seconds, seen)
    context |= {"plan": plan, "fields": [(field, form.data.get(field, "")) for field in form.fields]}
    if not is_confirmed(request):
        return False
    if Drill.open_ones().exists():
        raise ObstacleError(UNDER_WAY)
    do_begin(request.user, plan, target, fault, seconds, seen, Confirmation.parse(request.POST))
    return True


@require_safe
def report(request: UserRequest, number: int) -> HttpResponseBase:
    drill = access_drill(request.user, number)
    if wants_csv(request):
        return csv_response(request, f"drill-{number}", ROW_TITLES, _rows(drill))
    return render(request, "drill/report.html", {"operation": drill, **drill.shown})


@require_POST
def stop(request: UserRequest, number: int) -> HttpResponse:
    """Stop the drill; allowed to every operator of the cluster, also in read-only mode."""
    do_stop(request.user, access_drill(request.user, number, Right.OPERATE))
    return HttpResponse("") if request.htmx else redirect("drill", number)


def _rows(drill: Drill) -> Iterator[tuple[object, ...]]:
    for row in drill.table:
        yield (row.what, row.expected, row.measured, row.verdict)
    for line in drill.group_lines:
        yield (f"Consumer group {line.name}", "", line.sentence, "measured")


def _cells(drill: Drill) -> tuple[object, ...]:
    return (drill.began_ms, drill.title, drill.seconds, drill.word, drill.sentence, drill.actor_name)
