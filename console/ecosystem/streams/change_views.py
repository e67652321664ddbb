"""Pages that plan a change to stream jobs: add one, start it after a loss, start it over, remove it."""

from collections.abc import Mapping

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from console.ecosystem.streams.actions import do_add_stream, do_reset_checkpoint, do_start_after_loss
from console.ecosystem.streams.checkpoint_plan import EARLIEST, LATEST, losses, reset_plan, start_plan
from console.ecosystem.streams.forms import StreamForm
from console.ecosystem.streams.preconditions import preconditions_of, submission_of
from console.ecosystem.streams.queries import access_stream, is_here, log_ends, log_starts, positions_of
from console.ecosystem.streams.submission import submission_plan
from console.kit.access.rights import Right, require
from console.kit.common.user_request import UserRequest
from console.kit.gateway.processes.stream_jobs import JobView, NoSuchJobError, describe, list_jobs
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import PlanResult, at_once, is_confirmed, refusable
from console.processes.actions import do_remove_as_planned, do_start_as_asked
from console.processes.kinds.spec import SpecError
from console.processes.models import ManagedProcess
from console.processes.removal import removal_plan


@require_safe
def choose_job(request: UserRequest) -> HttpResponse:
    require(request.user, Right.ADMINISTER)
    return render(request, "streams/choose.html", {"jobs": list_jobs()})


@require_http_methods(["GET", "HEAD", "POST"])
def add(request: UserRequest, job: str) -> HttpResponse:
    """Show the form, then the properties file it makes, then add the job: a post with the plan's digest confirms it."""
    require(request.user, Right.ADMINISTER)
    try:
        described = describe(job)
    except NoSuchJobError as error:
        raise Http404(str(error)) from None
    form = StreamForm(described, request.POST or None)
    context = {"job": described, "form": form, "error": ""}
    if request.method != "POST" or not form.is_valid():
        return render(request, "streams/add.html", context, status=422 if form.errors else 200)
    return _add(request, described, form, context)


def _add(request: UserRequest, job: JobView, form: StreamForm, context: dict[str, object]) -> HttpResponse:
    submission = submission_of(job, form)
    plan = submission_plan(submission, preconditions_of(submission))
    try:
        with refusable() as answer:
            if is_confirmed(request):
                do_add_stream(request.user, plan, submission, Confirmation.parse(request.POST))
                return redirect("stream", submission.name)
    except SpecError as refusal:
        form.add_error(None, str(refusal))
        answer.status = 422
    context |= {"plan": plan, "fields": list(form.cleaned_data.items()), "error": answer.error}
    return render(request, "streams/add.html", context, status=answer.status)


@require_POST
def start(request: UserRequest, name: str) -> HttpResponse:
    """Start the job; after lost records the plan says which, and a post with its digest starts it."""
    process = access_stream(request.user, name, Right.OPERATE)
    places = positions_of(process)
    lost = losses(places, log_starts({topic for topic, _ in places or ()}))
    if not lost:
        return at_once(request, lambda: do_start_as_asked(request.user, process), reverse("stream", args=[name]))
    if request.htmx:  # from a button in a table: the page of the job says what is gone, and asks
        return HttpResponseClientRedirect(reverse("stream", args=[name]))
    fails = process.spec.get("properties", {}).get("fail.on.data.loss", "true") != "false"
    plan = start_plan(name, lost, fails)
    with refusable() as answer:
        if is_confirmed(request):
            do_start_after_loss(request.user, plan, process, Confirmation.parse(request.POST))
            return redirect("stream", name)
    return _shown_plan(request, process, plan, "Start it all the same", answer)


@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: UserRequest, name: str) -> HttpResponse:
    process = access_stream(request.user, name, Right.OPERATE)
    parameters = request.POST if request.method == "POST" else request.GET
    target = LATEST if parameters.get("to") == LATEST else EARLIEST
    places = positions_of(process)
    topics = {topic for topic, _ in places or ()}
    plan = reset_plan(name, places, target, (log_starts(topics), log_ends(topics)), _why_no_reset(process))
    with refusable() as answer:
        if request.method == "POST":
            do_reset_checkpoint(request.user, plan, process, target, Confirmation.parse(request.POST))
            messages.success(request, f"{name} begins without a checkpoint when it is started.")
            return redirect("stream", name)
    more = {"fields": [("to", target)], "target": target, "targets": (EARLIEST, LATEST)}
    return _shown_plan(request, process, plan, "Reset the checkpoint", answer, more)


def _why_no_reset(process: ManagedProcess) -> str:
    if not is_here(process):
        return f"Its checkpoint lies on {process.host}; it is reset by the console of that host."
    if process.pid is not None or process.waits_for_restart or process.request:
        return f"{process.name} runs. Stop it first: its checkpoint is in use."
    return ""


@require_http_methods(["GET", "HEAD", "POST"])
def remove(request: UserRequest, name: str) -> HttpResponse:
    process = access_stream(request.user, name, Right.ADMINISTER)
    plan = removal_plan(process)
    with refusable() as answer:
        if request.method == "POST":
            do_remove_as_planned(request.user, plan, process, Confirmation.parse(request.POST))
            messages.success(request, f"{name} is being removed.")
            return redirect("streams")
    return _shown_plan(request, process, plan, f"Remove {name}", answer)


def _shown_plan(
    request: UserRequest,
    process: ManagedProcess,
    plan: Plan,
    verb: str,
    answer: PlanResult,
    more: Mapping[str, object] | None = None,
) -> HttpResponse:
    context = {"process": process, "plan": plan, "verb": verb, "address": request.path, "error": answer.error}
    context |= {"back": reverse("stream", args=[process.name]), **(more or {})}
    return render(request, "streams/plan.html", context, status=answer.status)
