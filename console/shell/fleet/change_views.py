"""Clusters added, changed and removed on a page: a form, a trial, a plan, a confirmation. For administrators."""

import threading
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.ecosystem.connectors.sealing import print_of, seal, unseal
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import Right, require
from console.kit.common.cluster_urls import address_in
from console.kit.common.current_cluster import MAIN, all_clusters, in_cluster, is_main
from console.kit.common.declared_clusters import CLUSTERS_MAX, ClustersError
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connection.trial import Trial, TrialStep, try_cluster
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.shell.fleet.actions import do_keep, do_remove, do_reset_cluster, note_trial
from console.shell.fleet.forms import ClusterForm
from console.shell.fleet.kept import SECRETS, KeptForm, added_names, kept_of
from console.shell.fleet.plan import afresh_plan, keep_plan, remove_plan
from console.shell.fleet.service_trials import service_steps
from console.state.clusters.queries import cluster_state

_METHODS = ["GET", "HEAD", "POST"]
NO_CLUSTER = "No cluster of this name was added here; those of clusters.toml are changed there."
_SEALED_FOR = "a cluster"
#: A trial holds a thread for some seconds, and connects to where somebody says.
_trials = threading.BoundedSemaphore(2)
_BUSY = Trial(
    (TrialStep("wait", error="Two trials are under way; this one was not begun. Try again in some seconds."),)
)


@require_http_methods(_METHODS)
def add(request: UserRequest) -> HttpResponse:
    if not is_main():
        return redirect(address_in(MAIN, "cluster-add"))
    _access(request)
    return _form_page(request, None)


@require_http_methods(_METHODS)
def change(request: UserRequest, cluster: str) -> HttpResponse:
    _access(request)
    try:
        former = _kept(cluster)
    except ClustersError as error:
        raise Http404(f"{error} Remove it, and add it again.") from None
    return _form_page(request, former)


@require_http_methods(_METHODS)
def remove(request: UserRequest, cluster: str) -> HttpResponse:
    _access(request)
    if cluster not in added_names():
        raise Http404(NO_CLUSTER)
    try:
        values = dict(_kept(cluster).values)
    except ClustersError as error:
        values = {"file": str(error)}
    with refusable() as answer:
        plan = remove_plan(cluster, values)
        if is_confirmed(request):
            do_remove(request.user, plan, Confirmation.parse(request.POST))
            messages.success(request, f"{cluster} is removed, as soon as the console's processes have started again.")
            return redirect("clusters")
    context = {"plan": plan, "kept": cluster, "address": request.path, "error": answer.error}
    return render(request, "fleet/change.html", context, status=answer.status)


@require_http_methods(_METHODS)
def afresh(request: UserRequest, cluster: str) -> HttpResponse:
    """Adopt another cluster that answers under this name."""
    _access(request)
    if cluster not in all_clusters():
        raise Http404("There is no such cluster.")
    with refusable() as answer:
        with in_cluster(cluster):
            state, obstacle = cluster_state(), why_read_only()
        plan = afresh_plan(cluster, state.cluster_id, state.brokers_error, obstacle)
        if is_confirmed(request):
            do_reset_cluster(request.user, plan, Confirmation.parse(request.POST))
            messages.success(request, f"{cluster} starts afresh, when the console's processes have started again.")
            return redirect("clusters")
    context = {"plan": plan, "state": state, "address": request.path, "error": answer.error}
    return render(request, "fleet/afresh.html", context, status=answer.status)


def _access(request: UserRequest) -> None:
    """Require the right on the console: clusters are declared there, at its one address."""
    if not is_main():
        raise Http404(NO_CLUSTER)
    require(request.user, Right.ADMINISTER)


def _kept(name: str) -> KeptForm:
    """Raises ClustersError."""
    form = kept_of(name)
    if form is None:
        raise Http404(NO_CLUSTER)
    return form


def _form_page(request: UserRequest, former: KeptForm | None) -> HttpResponse:
    sealed = unseal(request.user, _SEALED_FOR, request.POST.get("sealed", ""))
    initial = {"name": former.name, **former.values} if former else {"colour": "blue", "mechanism": "SCRAM-SHA-256"}
    form = ClusterForm(former, sealed, request.POST or None, initial=initial)
    context: dict[str, Any] = {"form": form, "kept": former.name if former else "", "address": request.path}
    context["sealed"] = request.POST.get("sealed", "") if sealed else ""
    if request.method != "POST" or not form.is_valid():
        return render(request, "fleet/change.html", context, status=422 if form.errors else 200)
    kept = form.kept
    prints = {
        secret: print_of(kept.secrets[secret])
        for secret in SECRETS
        if secret in kept.secrets and kept.secrets[secret] != (former.secrets.get(secret) if former else None)
    }
    plan = keep_plan(kept.name, former.values if former else None, kept.values, prints, _obstacle(kept.name, former))
    with refusable() as answer:
        if is_confirmed(request):
            do_keep(request.user, plan, kept, Confirmation.parse(request.POST))
            messages.success(request, f"{kept.name} is kept, and here when the console's processes have started again.")
            return redirect("clusters")
        context["trial"] = _tried(request, kept, form)
    context["sealed"] = seal(request.user, _SEALED_FOR, form.typed)
    context |= {"plan": plan, "error": answer.error, "fields": [*_fields(request), ("sealed", context["sealed"])]}
    return render(request, "fleet/change.html", context, status=answer.status)


def _fields(request: UserRequest) -> list[tuple[str, str]]:
    left_out = (*SECRETS, "sealed", "csrfmiddlewaretoken", "digest", "typed_name")
    return [(name, value) for name, value in request.POST.dict().items() if name not in left_out]


def _tried(request: UserRequest, kept: KeptForm, form: ClusterForm) -> Trial:
    if not _trials.acquire(blocking=False):
        return _BUSY
    try:
        trial = try_cluster(kept.values["bootstrap"], form.security)
        trial = Trial((*trial.steps, *service_steps(kept, trial.cluster_id)), trial.cluster_id)
    finally:
        _trials.release()
    note_trial(request.user, kept.name, kept.values["bootstrap"], trial)
    return trial


def _obstacle(name: str, former: KeptForm | None) -> str:
    if former is not None:
        return ""
    if name == MAIN or name in all_clusters() or name in added_names():
        return f"There is a cluster {name} already."
    if len(all_clusters()) > CLUSTERS_MAX:
        return f"There are {CLUSTERS_MAX} clusters; that is the most."
    return ""
