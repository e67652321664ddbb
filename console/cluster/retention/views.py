"""The retention tab of a topic: what goes now, what would go, and the change.

The one page that asks the brokers while it is drawn: the answer hangs on what was typed. It is asked with a deadline,
and shows what did not answer.
"""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from console.cluster.retention.actions import do_change_retention
from console.cluster.retention.forms import RetentionForm
from console.cluster.retention.outlook import retention_facts
from console.kit.access.rights import Right, reach_of
from console.kit.common.user_request import UserRequest
from console.kit.gateway.errors import GatewayError
from console.kit.plans.plan import Confirmation
from console.kit.plans.views import refusable
from console.state.clusters.access import access_changing, access_topic
from console.state.clusters.models import Topic


@require_safe
def retention(request: UserRequest, name: str) -> HttpResponse:
    topic = access_topic(request.user, name, Right.VIEW)
    is_asked = any(request.GET.get(field) for field in RetentionForm.base_fields)
    form = RetentionForm(request.GET if is_asked else None)
    changes = form.changes if is_asked and form.is_valid() else {}
    return _page(request, topic, form, changes, status=422 if form.errors else 200)


@require_POST
def configure(request: UserRequest, name: str) -> HttpResponse:
    """Apply a plan that was shown; what does not hold any more shows the plan for how it is now."""
    topic = access_changing(request.user, name)
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return _page(request, topic, RetentionForm(request.POST), {}, "The plan could not be read.", 422)
    with refusable() as answer:
        facts = retention_facts(topic.name, topic.topic_id, form.changes, reach_of(request.user))
        if not facts["differences"]:
            messages.info(request, "Nothing differs: nothing was changed.")
            return redirect("topic-retention", topic.name)
        do_change_retention(request.user, facts["plan"], Confirmation.parse(request.POST))
        messages.success(request, f"Retention of {topic.name} was changed.")
        undo = {f"undo_{difference.name.replace('.', '_')}": difference.undo for difference in facts["differences"]}
        return redirect(f"{reverse('topic-retention', args=[topic.name])}?{urlencode(undo)}")
    return _page(request, topic, RetentionForm(request.POST), form.changes, answer.error, answer.status)


def _page(
    request: UserRequest, topic: Topic, form: RetentionForm, wanted: dict[str, str], error: str = "", status: int = 200
) -> HttpResponse:
    context = {"topic": topic, "form": form, "error": error, "undo": _undo(request)}
    try:
        context |= retention_facts(topic.name, topic.topic_id, wanted, reach_of(request.user))
    except GatewayError as refusal:
        context["error"] = error or str(refusal)
        context["differences"] = ()
    return render(request, "retention/page.html", context, status=status)


def _undo(request: UserRequest) -> str:
    """Return the plan that takes the last change back, as an address."""
    texts = {name: request.GET.get(f"undo_{name}", "") for name in RetentionForm.base_fields}
    return urlencode({name: text for name, text in texts.items() if text})
