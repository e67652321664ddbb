"""The retention tab of a topic: what goes now, what would go, and the change.

The one page that asks the brokers while it is drawn: the answer hangs on what was typed. It is asked with a deadline,
and shows what did not answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from django.conf import settings as django_settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from console.access.reach import Reach, Resource
from console.access.rights import Right, reach_of
from console.clusters.access import access_topic
from console.clusters.models import Topic
from console.common.clock import now_ms
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError
from console.gateway.interface import ClusterGateway
from console.gateway.retention_views import CommittedView, RetentionView
from console.plans.plan import Confirmation
from console.plans.views import refusable
from console.retention.actions import do_change_retention
from console.retention.forms import RetentionForm
from console.retention.later import Later, is_overdue, later
from console.retention.plan import Loss, Totals, change_plan, deletes_more, differences, losses, totals
from console.retention.timeline import Timeline, timeline
from console.topics.settings_plan import RETENTION_KEYS


@dataclass
class Outlook:
    """A preview with what a page shows of it."""

    view: RetentionView
    committed: CommittedView
    reach: Reach
    #: partition → the first offset that is young enough to stay, None: none is.
    young_from: Mapping[int, int | None]

    @cached_property
    def totals(self) -> Totals:
        return totals(self.view)

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Of the groups in reach."""
        return self._within(losses(self.view, self.committed))

    @cached_property
    def later(self) -> tuple[Later, ...]:
        """What goes in the end, with the groups in reach."""
        found = later(self.view, self.committed, self.young_from)
        return tuple(replace(each, losses=self._within(each.losses)) for each in found)

    def _within(self, found: tuple[Loss, ...]) -> tuple[Loss, ...]:
        return tuple(each for each in found if Right.VIEW in self.reach.rights_on(Resource.GROUP, each.group))

    @cached_property
    def timeline(self) -> Timeline | None:
        return timeline(self.view, now_ms())


#: What ends an active segment.
ROLL_KEYS = ("segment.ms", "segment.bytes")


@require_safe
def retention(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_topic(request.user, name, Right.VIEW)
    is_asked = any(request.GET.get(field) for field in RetentionForm.base_fields)
    form = RetentionForm(request.GET if is_asked else None)
    changes = form.changes if is_asked and form.is_valid() else {}
    return _page(request, topic, form, changes, status=422 if form.errors else 200)


@require_POST
def configure(request: HttpRequest, name: str) -> HttpResponse:
    """Apply a plan that was shown; what does not hold any more shows the plan for how it is now."""
    topic = access_topic(request.user, name, Right.OPERATE)
    form = RetentionForm(request.POST)
    if not form.is_valid():
        return _page(request, topic, RetentionForm(request.POST), {}, "The plan could not be read.", 422)
    with refusable() as answer:
        facts = _facts(topic, form.changes, reach_of(request.user))
        if not facts["differences"]:
            messages.info(request, "Nothing differs: nothing was changed.")
            return redirect("topic-retention", topic.name)
        do_change_retention(request.user, facts["plan"], Confirmation.parse(request.POST))
        messages.success(request, f"Retention of {topic.name} was changed.")
        undo = {f"undo_{each.name.replace('.', '_')}": each.undo for each in facts["differences"]}
        return redirect(f"{reverse('topic-retention', args=[topic.name])}?{urlencode(undo)}")
    return _page(request, topic, RetentionForm(request.POST), form.changes, answer.error, answer.status)


def _page(
    request: HttpRequest, topic: Topic, form: RetentionForm, wanted: dict[str, str], error: str = "", status: int = 200
) -> HttpResponse:
    context = {"topic": topic, "form": form, "error": error, "undo": _undo(request)}
    try:
        context |= _facts(topic, wanted, reach_of(request.user))
    except GatewayError as refusal:
        context["error"] = error or str(refusal)
        context["differences"] = ()
    return render(request, "retention/page.html", context, status=status)


def _facts(topic: Topic, wanted: dict[str, str], reach: Reach) -> dict:
    gateway = cluster_gateway()
    settings = {each.name: each for each in gateway.topic_settings(topic.name)}
    known = [each for name, each in settings.items() if name in RETENTION_KEYS]
    changes = differences(known, wanted)
    committed = gateway.committed_offsets(topic.name)

    def look(asked: Mapping[str, str | None]) -> Outlook:
        view = gateway.preview_retention(topic.name, asked)
        return Outlook(view, committed, reach, _young_from(gateway, topic.name, view))

    now = look({})
    then = look({each.name: each.new for each in changes}) if changes else None
    loses_records = then is not None and deletes_more(now.totals, then.totals)
    loses_later = then is not None and is_overdue(then.later) and not is_overdue(now.later)
    return {
        "settings": known,
        "plan": change_plan(topic.name, known, changes, loses_records, django_settings.BOOTSTRAP_SERVERS, loses_later),
        "fields": [(name.replace(".", "_"), text) for name, text in wanted.items()],
        "differences": changes,
        "now": now,
        "then": then,
        "outlook": then or now,
        "rolls": [settings[name] for name in ROLL_KEYS if name in settings],
        "silent_brokers": committed.silent_brokers,
    }


def _young_from(gateway: ClusterGateway, topic: str, view: RetentionView) -> Mapping[int, int | None]:
    if view.retention_ms < 0 or "delete" not in view.cleanup_policy:
        return {}
    asked = [each.partition for each in view.partitions if not each.error]
    return gateway.offsets_at(topic, max(0, now_ms() - view.retention_ms), asked)


def _undo(request: HttpRequest) -> str:
    """The plan that takes the last change back, as an address."""
    texts = {name: request.GET.get(f"undo_{name}", "") for name in RetentionForm.base_fields}
    return urlencode({name: text for name, text in texts.items() if text})
