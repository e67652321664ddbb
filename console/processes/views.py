"""The processes page, the page of one process with the tail of its log, and the buttons.

A button answers with nothing but the closed question: what changed arrives by push, for everybody alike.
"""

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from console.kit.access.rights import Right, reach_of, require
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.plans.views import at_once
from console.processes.access import access_process, access_processes, log_context
from console.processes.actions import do_start_as_asked
from console.processes.export import TITLES, process_rows
from console.processes.log_files import TAIL_LINES
from console.processes.models import ManagedProcess
from console.processes.presenters import ManagedProcessRow


@require_safe
def process_list(request: UserRequest) -> HttpResponseBase:
    processes = access_processes(request.user)
    if wants_csv(request):
        return csv_response(request, "processes", TITLES, process_rows(processes, reach_of(request.user)))
    now = timezone.now()
    shown = [ManagedProcessRow(process, now, reach_of(request.user)) for process in processes]
    return render(request, "processes/list.html", {"processes": shown})


@require_safe
def process_page(request: UserRequest, name: str) -> HttpResponse:
    process = access_process(request.user, name)
    context = {
        "shown": ManagedProcessRow(process, timezone.now(), reach_of(request.user)),
        "tail_lines": TAIL_LINES,
        **log_context(request.user, process),
    }
    return render(request, "processes/page.html", context)


@require_safe
def process_log(request: UserRequest, name: str) -> HttpResponse:
    """Return the tail of the process's log, which the page fetches again and again."""
    process = access_process(request.user, name)
    return render(
        request,
        "processes/log.html",
        {
            "shown": ManagedProcessRow(process, timezone.now(), reach_of(request.user)),
            **log_context(request.user, process),
        },
    )


@require_safe
def no_question(request: UserRequest) -> HttpResponse:
    """Takes the question off the page."""
    require(request.user, Right.OPERATE)
    return HttpResponse("")


@require_POST
def start(request: UserRequest, name: str) -> HttpResponse:
    process = access_process(request.user, name, Right.OPERATE)
    if process.kind == ManagedProcess.Kind.STREAM:
        return _asked_again(reverse("stream-start", args=[name]))  # records may be gone before it has read them
    return at_once(request, lambda: do_start_as_asked(request.user, process), reverse("process", args=[name]))


def _asked_again(address: str) -> HttpResponse:
    """Redirect to the same request, with its body, at another address (RFC 9110, 307)."""
    return HttpResponse(status=307, headers={"Location": address})
