"""Many topics at once: chosen from a list that stands still, then one plan for all of them, confirmed once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.topics.actions import do_change_many, do_delete_many, do_set_many
from console.cluster.topics.bulk import RETENTION, BulkWish, TopicChange, changes
from console.cluster.topics.edits import VALUE_LENGTH_MAX
from console.cluster.topics.grace_actions import do_delete_later
from console.cluster.topics.grace_plans import GracePlan, deletion_later
from console.cluster.topics.many import (
    DELETING,
    DELETING_LATER,
    SET,
    SETTING,
    TOPICS_MAX,
    DeletionOfMany,
    SettingOfMany,
    TopicEdit,
    counted,
    deletion_of_many,
    setting_of_many,
)
from console.cluster.topics.queries import TopicListQuery, chosen_topics, doomed_topics
from console.cluster.topics.settings_plan import RETENTION_KEYS, changeable
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.figures import minute
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.plans.apply import Refusals
from console.kit.plans.inverse import find_inverse
from console.kit.plans.many import PlanOfMany, plan_of_many
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.setting import DEFAULT, plain_value
from console.kit.plans.views import refusable
from console.state.clusters.access import changeable_topics, require_changing
from console.state.clusters.models import Topic


@require_http_methods(["GET", "HEAD", "POST"])
def many(request: UserRequest) -> HttpResponse:
    """Change many topics: `topic`, as often as wanted, `do`, and for a setting its name and `value`; `undo` takes one
    back.
    """
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    parameters = request.POST if request.method == "POST" else request.GET
    names, reach = parameters.getlist("topic"), reach_of(request.user)
    for name in names:
        require_changing(request.user, name)
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    context: dict[str, Any] = _offered(request, reach, names) | {"do": parameters.get("do", ""), "chosen": set(names)}
    context |= {"setting": parameters.get("setting", "")[:249], "value": parameters.get("value", "")[:VALUE_LENGTH_MAX]}
    context["changes"] = changes().values()
    with refusable() as answer:
        if (names and (request.method == "POST" or "do" in parameters)) or parameters.get("undo"):
            planned = _planned(context, parameters.get("undo", ""), names, reach)
            context |= {"plan": planned.plan, "do": planned.do, "verb": planned.verb}
            context["fields"] = [
                *(("topic", name) for name in names),
                *((key, value) for key, value in planned.fields.items() if value),
            ]
            if request.method == "POST":
                return planned.apply(request)
        elif request.method == "POST":
            raise RefusedError("INVALID_REQUEST", "No topic was chosen.")
    return render(request, "topics/many.html", context | {"error": answer.error}, status=answer.status)


def _offered(request: UserRequest, reach: Reach, names: list[str]) -> dict[str, Any]:
    """Return what can be ticked: `names`, whatever the search hides, then what it chooses."""
    query = TopicListQuery.parse(request.GET)
    chosen = list(changeable_topics(reach).filter(name__in=names[:TOPICS_MAX]).order_by("name"))
    topics = chosen_topics(query, reach).filter(pk__in=changeable_topics(reach).order_by().values("pk"))
    others = topics.exclude(pk__in=[topic.pk for topic in chosen])
    return {
        "query": query,
        "topics": [*chosen, *others[: TOPICS_MAX - len(chosen)]],
        "count": len(chosen) + others.count(),
        "most": TOPICS_MAX,
    }


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan, the `fields` that make it anew, and how it is carried out."""

    plan: Plan
    do: str
    verb: str
    fields: Mapping[str, str]
    apply: Callable[[UserRequest], HttpResponse]


def _planned(context: Mapping[str, str], undo: str, names: list[str], reach: Reach) -> _Planned:
    """Raises GatewayError, Http404."""
    do, wish = context["do"], BulkWish(context["setting"], context["value"])
    if do == SETTING and wish.setting in RETENTION_KEYS:
        do = RETENTION
    change = changes().get(do)
    if undo:
        kept = _kept(change.action if change else SET, wish.setting, undo)
        topics = list(changeable_topics(reach).filter(name__in=kept))
        if change:
            wishes = {topic: BulkWish(wish.setting, kept[topic.name]) for topic in topics}
            return _of_change(change, wishes, reach, {"do": do, "setting": wish.setting, "undo": undo})
        return _of_setting(
            wish.setting, {topic: kept[topic.name] for topic in topics}, {"setting": wish.setting, "undo": undo}
        )
    topics = _named(names, reach, change.topics_max if change else TOPICS_MAX)
    if change:
        try:
            wish = change.settle(wish)
        except ValueError as error:
            raise RefusedError("INVALID_REQUEST", str(error)) from error
        fields = {"do": do, "setting": wish.setting, "value": wish.value}
        return _of_change(change, dict.fromkeys(topics, wish), reach, fields)
    if do == DELETING_LATER:
        later = deletion_later(topics, reach)
        return _Planned(later.plan, do, "Delete after a day", {"do": do}, partial(_delete_later, later))
    if do == DELETING:
        deletion = deletion_of_many(doomed_topics(topics, reach), here.BOOTSTRAP_SERVERS)
        return _Planned(deletion, do, "Delete the topics", {"do": do}, partial(_delete, deletion))
    if do != SETTING or not wish.setting or not wish.value.strip():
        raise RefusedError("INVALID_REQUEST", "Choose what to do with them; a setting needs its name and a value.")
    typed = plain_value(wish.setting, wish.value.strip())
    fields = {"do": do, "setting": wish.setting, "value": wish.value}
    return _of_setting(wish.setting, dict.fromkeys(topics, typed), fields)


def _named(names: list[str], reach: Reach, most: int) -> list[Topic]:
    topics = list(changeable_topics(reach).filter(name__in=names[:TOPICS_MAX]))
    if missing := sorted(set(names) - {topic.name for topic in topics}):
        raise RefusedError(
            "UNKNOWN_TOPIC_OR_PARTITION", f"There is no topic {missing[0][:100]}, or too many are chosen."
        )
    if len(topics) > most:
        raise RefusedError("INVALID_REQUEST", f"One plan of this change has room for {most} topics: choose fewer.")
    return topics


def _kept(action: str, subject: str, number: str) -> Mapping[str, str]:
    kept = find_inverse("topics", subject, number)
    if kept is None or kept.action != action:
        raise Http404("This change is not kept any more.")
    values: Mapping[str, str] = kept.values
    return values


def _of_change(
    change: TopicChange, wishes: Mapping[Topic, BulkWish], reach: Reach, fields: Mapping[str, str]
) -> _Planned:
    plans = [change.plan(topic, topic_wish, reach) for topic, topic_wish in wishes.items()]
    subject = next((change.subject(topic_wish) for topic_wish in wishes.values()), fields.get("setting", ""))
    real = [plan for plan in plans if plan and (plan.lines or plan.obstacle)]
    plan = plan_of_many(
        real,
        action=change.action,
        object_type="topics",
        object_name=subject,
        typed_name=f"change {counted(len(real))}",
    )
    return _Planned(plan, change.key, change.verb, fields, partial(_change, change, plan))


def _of_setting(name: str, wanted: Mapping[Topic, str], fields: Mapping[str, str]) -> _Planned:
    gateway, edits = cluster_gateway(), []
    for topic, typed in wanted.items():
        known = changeable(gateway.topic_settings(topic.name))
        if name not in known:
            raise RefusedError("INVALID_CONFIG", f"{name} is no setting that is changed here.")
        gateway.check_topic_settings(topic.name, {name: None if typed == DEFAULT else typed})
        edits.append(TopicEdit(topic.name, topic.topic_id, topic.replication_factor, known[name], typed))
    plan = setting_of_many(edits, here.BOOTSTRAP_SERVERS)
    return _Planned(plan, SETTING, "Change the setting", fields, partial(_set, plan))


def _delete_later(change: GracePlan, request: UserRequest) -> HttpResponse:
    due = do_delete_later(request.user, change.plan, change.topics, change.traces, Confirmation.parse(request.POST))
    are = "is" if len(change.topics) == 1 else "are"
    messages.success(request, f"{counted(len(change.topics))} {are} deleted at {minute(due)}, unless it is called off.")
    return redirect("topics-planned")


def _delete(plan: DeletionOfMany, request: UserRequest) -> HttpResponse:
    refused = do_delete_many(request.user, plan, Confirmation.parse(request.POST))
    return _done(request, len(plan.topics), refused)


def _set(plan: SettingOfMany, request: UserRequest) -> HttpResponse:
    refused, kept = do_set_many(request.user, plan, Confirmation.parse(request.POST))
    return _done(request, len(plan.lines), refused, {"setting": plan.setting, "undo": kept.pk} if kept else None)


def _change(change: TopicChange, plan: PlanOfMany, request: UserRequest) -> HttpResponse:
    refused, kept = do_change_many(request.user, change, plan, Confirmation.parse(request.POST))
    undo = {"do": change.key, "setting": plan.object_name, "undo": kept.pk} if kept else None
    return _done(request, len(plan.parts), refused, undo)


def _done(
    request: UserRequest, count: int, refused: Refusals, undo: Mapping[str, object] | None = None
) -> HttpResponse:
    address = f"{reverse('topics-many')}?{urlencode(undo)}" if undo else ""
    offer = format_html(' <a href="{}">Plan the undo…</a>', address) if address else ""
    messages.success(request, format_html("{}: done.{}", counted(count - len(refused)), offer))
    for name, why in list(refused.items())[:5]:
        messages.warning(request, f"{name}: {why}")
    return redirect("topics")
