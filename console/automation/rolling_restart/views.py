"""One page: the plan while nothing is under way, otherwise how far it is; and the buttons."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from console.automation.rolling_restart.actions import do_begin
from console.automation.rolling_restart.models import RestartedBroker, RollingRestart
from console.automation.rolling_restart.plan import PlannedRestart, ReplicaGap, RestartPlan
from console.automation.rolling_restart.queries import restart_plan
from console.cluster.placement.sentences import count_of
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require, require_somewhere
from console.kit.common.user_request import UserRequest
from console.kit.operations.actions import do_call_off, do_pause, do_resume
from console.kit.operations.models import OPEN
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import at_once, refusable
from console.processes.access import require_operating_all, why_not_all

#: Those that are over, on the page.
EARLIER_SHOWN = 5
#: Partitions named one by one.
GAPS_SHOWN = 20


@require_http_methods(["GET", "HEAD", "POST"])
def rolling_restart(request: UserRequest) -> HttpResponse:
    require_somewhere(request.user, Resource.PROCESS, Right.VIEW)
    restart = RollingRestart.open_ones().first()
    if restart is not None and request.method != "POST":
        return render(request, "rolling_restart/page.html", _context(request, restart))
    planned = restart_plan()
    plan = planned.as_plan(is_under_way=restart is not None)
    with refusable() as answer:
        if request.method == "POST":
            require(request.user, Right.OPERATE)
            require_operating_all(request.user, planned.broker_names)
            do_begin(request.user, planned, plan, Confirmation.parse(request.POST))
            return redirect("rolling-restart")
    context = _context(request, restart) if restart else _context_of_plan(request, planned, plan)
    return render(request, "rolling_restart/page.html", context | {"error": answer.error}, status=answer.status)


@require_POST
def pause(request: UserRequest, number: int) -> HttpResponse:
    """Pause the restart; allowed to every operator of the cluster."""
    return _change(request, _restart(request, number), do_pause)


@require_POST
def resume(request: UserRequest, number: int) -> HttpResponse:
    return _change(request, _own_restart(request, number), do_resume)


@require_POST
def call_off(request: UserRequest, number: int) -> HttpResponse:
    return _change(request, _own_restart(request, number), do_call_off)


def _restart(request: UserRequest, number: int) -> RollingRestart:
    require(request.user, Right.OPERATE)
    return get_object_or_404(RollingRestart, pk=number)


def _own_restart(request: UserRequest, number: int) -> RollingRestart:
    """Return a restart that the person could have begun."""
    restart = _restart(request, number)
    require_operating_all(request.user, restart.broker_names)
    return restart


def _change(request: UserRequest, restart: RollingRestart, do: Callable[[User, RollingRestart], None]) -> HttpResponse:
    """Change the restart; pages show it by push, for every user alike."""
    return at_once(request, lambda: do(request.user, restart), reverse("rolling-restart"))


def _context(
    request: UserRequest, restart: RollingRestart | None, planned: Sequence[PlannedRestart] = ()
) -> dict[str, object]:
    """Return the page's context, with `planned` where nothing is under way."""
    reach = reach_of(request.user)
    brokers: list[PlannedRestart | RestartedBroker] = [*(restart.brokers.all() if restart else planned)]
    shown = [broker for broker in brokers if Right.VIEW in reach.rights_on(Resource.PROCESS, broker.name)]
    return {
        "operation": restart,
        "shown_brokers": shown,
        "hidden_broker_count": len(brokers) - len(shown),
        "why_not": why_not_all(request.user, [broker.name for broker in brokers]),
        "hides_names": reach.is_limited(Resource.TOPIC) or len(shown) < len(brokers),
        "earlier": RollingRestart.objects.exclude(state__in=OPEN)[:EARLIER_SHOWN],
    }


def _context_of_plan(request: UserRequest, planned: RestartPlan, plan: Plan) -> dict[str, object]:
    """Return the page's context; the plan carries the refusal if the person may not have it carried out."""
    context = _context(request, None, planned.brokers)
    gaps = _named_gaps(planned, reach_of(request.user))
    return context | {
        "plan": replace(plan, obstacle=plan.obstacle or why_not_all(request.user, planned.broker_names)),
        "verb": f"Restart {count_of(len(planned.brokers), 'broker')}",
        "gaps": gaps,
        "hidden_gap_count": len(planned.gaps) - len(gaps),
    }


def _named_gaps(planned: RestartPlan, reach: Reach) -> list[ReplicaGap]:
    """Return the first gaps of topics in reach; the others are counted only."""
    seen = (gap for gap in planned.gaps if Right.VIEW in reach.rights_on(Resource.TOPIC, gap.topic))
    return list(islice(seen, GAPS_SHOWN))
