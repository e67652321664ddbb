"""One page: the plan while nothing is under way, otherwise how far it is; and the buttons."""

from itertools import islice

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from console.access.reach import Reach, Resource
from console.access.rights import Right, reach_of, require, require_somewhere
from console.plans.digest import digest_of
from console.processes.access import require_operating_all, why_not_all
from console.rolling_restart.actions import AlreadyUnderWay, do_begin, do_cancel, do_pause, do_resume
from console.rolling_restart.models import RollingRestart
from console.rolling_restart.plan import GAPS_SHOWN, TYPED_NAME, Gap, RestartPlan, restart_plan
from console.rolling_restart.queries import open_restart

#: Those that are over, on the page.
EARLIER_SHOWN = 5
MOVED_ON = "The cluster has changed since the plan was shown. This is the plan for how it is now; nothing was begun."
NOT_TYPED = f"Nothing was begun: type {TYPED_NAME} to accept what is refused meanwhile."


@require_safe
def rolling_restart(request: HttpRequest) -> HttpResponse:
    require_somewhere(request.user, Resource.PROCESS, Right.VIEW)
    return _page(request)


@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    require(request.user, Right.OPERATE)
    plan = restart_plan()
    require_operating_all(request.user, plan.broker_names)
    if request.POST.get("digest") != digest_of(plan, request.user):
        return _page(request, MOVED_ON, 409)
    if plan.obstacle:
        return _page(request, plan.obstacle, 409)
    if plan.typed_name and request.POST.get("typed_name") != plan.typed_name:
        return _page(request, NOT_TYPED, 422)
    try:
        do_begin(request.user, plan, accepts_gaps=bool(plan.gaps))
    except AlreadyUnderWay as error:
        return _page(request, str(error), 409)
    return redirect("rolling-restart")


@require_POST
def pause(request: HttpRequest, number: int) -> HttpResponse:
    """The brake: for everybody who operates the cluster."""
    return _change(request, _restart(request, number), do_pause)


@require_POST
def resume(request: HttpRequest, number: int) -> HttpResponse:
    return _change(request, _own_restart(request, number), do_resume)


@require_POST
def cancel(request: HttpRequest, number: int) -> HttpResponse:
    return _change(request, _own_restart(request, number), do_cancel)


def _restart(request: HttpRequest, number: int) -> RollingRestart:
    require(request.user, Right.OPERATE)
    return get_object_or_404(RollingRestart, pk=number)


def _own_restart(request: HttpRequest, number: int) -> RollingRestart:
    """One that the person could have begun."""
    restart = _restart(request, number)
    require_operating_all(request.user, restart.broker_names)
    return restart


def _change(request: HttpRequest, restart: RollingRestart, do) -> HttpResponse:
    """What changed arrives by push, for everybody alike."""
    do(request.user, restart)
    return HttpResponse("") if request.htmx else redirect("rolling-restart")


def _named_gaps(plan: RestartPlan, reach: Reach) -> list[Gap]:
    """The first few of the topics in reach; the others are counted only."""
    seen = (each for each in plan.gaps if Right.VIEW in reach.rights_on(Resource.TOPIC, each.topic))
    return list(islice(seen, GAPS_SHOWN))


def _page(request: HttpRequest, error: str = "", status: int = 200) -> HttpResponse:
    restart, reach = open_restart(), reach_of(request.user)
    plan = None if restart else restart_plan()
    gaps = _named_gaps(plan, reach) if plan else []
    brokers = list(restart.brokers.all() if restart else plan.brokers)
    shown = [each for each in brokers if Right.VIEW in reach.rights_on(Resource.PROCESS, each.name)]
    context = {
        "restart": restart,
        "plan": plan,
        "shown_brokers": shown,
        "hidden_broker_count": len(brokers) - len(shown),
        "why_not": why_not_all(request.user, [each.name for each in brokers]),
        "gaps": gaps,
        "hides_names": reach.is_limited(Resource.TOPIC) or len(shown) < len(brokers),
        "hidden_gap_count": len(plan.gaps) - len(gaps) if plan else 0,
        "earlier": RollingRestart.objects.exclude(state__in=("running", "paused"))[:EARLIER_SHOWN],
        "error": error,
    }
    return render(request, "rolling_restart/page.html", context, status=status)
