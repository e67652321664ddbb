"""The settings of the ensemble: keys of zoo.cfg, planned for all servers that this console runs."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.cluster.zookeeper.actions import do_set_zoo_cfg
from console.cluster.zookeeper.servers import server_processes
from console.cluster.zookeeper.settings_plan import common_value, settings_plan
from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.gateway.zookeeper.settings import why_wrong, zoo_keys, zoo_settings
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.processes.access import require_operating_all, why_not_all

VALUE_LENGTH_MAX = 20


@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: UserRequest) -> HttpResponse:
    """Show the form; with values the plan."""
    require(request.user, Right.OPERATE)
    rows = dict(sorted(server_processes().items()))
    if not rows:
        raise Http404("This console runs no ZooKeeper server.")
    names = [row.name for row in rows.values()]
    now = {
        number: zoo_settings(Path(row.spec["directory"])) | row.spec.get("settings", {}) for number, row in rows.items()
    }
    wanted = _wanted(request.POST if request.method == "POST" else request.GET)
    plan = settings_plan(now, wanted, names, why_wrong(_together(now, wanted))) if wanted else None
    with refusable() as answer:
        if request.method == "POST":
            require_operating_all(request.user, names)
            plan = plan or settings_plan(now, {}, names, "")
            do_set_zoo_cfg(request.user, plan, list(rows.values()), Confirmation.parse(request.POST))
            return redirect("zookeeper")
    context = {
        "keys": [(key, wanted.get(key.name, common_value(now, key.name))) for key in zoo_keys()],
        "plan": replace(plan, obstacle=plan.obstacle or why_not_all(request.user, names)) if plan else None,
        "fields": list(wanted.items()),
        "error": answer.error,
    }
    return render(request, "zookeeper/settings.html", context, status=answer.status)


def _wanted(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the keys that were given a value; an empty field leaves a setting on which the servers disagree as it
    is.
    """
    typed = {key.name: fields.get(key.name, "").strip()[:VALUE_LENGTH_MAX] for key in zoo_keys()}
    return {name: value for name, value in typed.items() if value and "/" not in value}


def _together(now: Mapping[int, Mapping[str, str]], wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the settings on which the servers agree, as they would be afterwards."""
    first = next(iter(now.values()))
    return {**{key: value for key, value in first.items() if value.isdecimal()}, **wanted}
