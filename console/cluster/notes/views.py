"""What is said about a topic: the form, the plan, and a post with the plan's digest."""

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.notes.actions import do_describe
from console.cluster.notes.forms import NoteForm
from console.cluster.notes.note_text import CHANGE, change_plan
from console.cluster.notes.queries import said_of
from console.kit.access.rights import Right
from console.kit.common.user_request import UserRequest
from console.kit.plans.inverse import find_inverse
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import is_confirmed, refusable
from console.state.clusters.access import access_topic


@require_http_methods(["GET", "HEAD", "POST"])
def about(request: UserRequest, name: str) -> HttpResponse:
    """Edit a topic's note. With `undo`, the number of a kept change, the form begins with the earlier text."""
    topic = access_topic(request.user, name, Right.OPERATE)
    now = said_of(topic.name)
    form = NoteForm(request.POST or None, initial=_kept(topic.name, request.GET.get("undo", "")) or asdict(now))
    context: dict[str, Any] = {"topic": topic, "form": form}
    if request.method != "POST" or not form.is_valid():
        return render(request, "notes/about.html", context, status=422 if form.errors else 200)
    then = form.text
    plan = change_plan(topic.name, now, then)
    with refusable() as answer:
        if is_confirmed(request):
            kept = do_describe(request.user, plan, Confirmation.parse(request.POST))
            address = reverse("topic-about", args=[topic.name])
            undo = format_html(' <a href="{}?undo={}">Plan the undo…</a>', address, kept.pk) if kept else ""
            messages.success(request, format_html("What is said about {} was changed.{}", topic.name, undo))
            return redirect("topic", topic.name)
    context |= {"plan": plan, "fields": asdict(then).items(), "error": answer.error}
    return render(request, "notes/about.html", context, status=answer.status)


def _kept(topic: str, number: str) -> dict[str, str]:
    if not number:
        return {}
    kept = find_inverse("topic", topic, number)
    if kept is None or kept.action != CHANGE:
        raise Http404("This change is not kept any more.")
    return dict(kept.values)
