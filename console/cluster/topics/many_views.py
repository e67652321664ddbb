"""Many topics at once: chosen from a list that stands still, then one plan for all of them, confirmed once."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.topics.actions import do_delete_many, do_set_many
from console.cluster.topics.edits import VALUE_LENGTH_MAX
from console.cluster.topics.grace_actions import do_delete_later
from console.cluster.topics.grace_plans import GracePlan, deletion_later
from console.cluster.topics.many import (
    DELETING,
    DELETING_LATER,
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
from console.cluster.topics.settings_plan import changeable
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.figures import minute
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.plans.inverse import find_inverse
from console.kit.plans.plan import Confirmation
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
    with refusable() as answer:
        if (names and (request.method == "POST" or "do" in parameters)) or parameters.get("undo"):
            change = _change(context, parameters.get("undo", ""), names, reach)
            context["plan"] = change.plan if isinstance(change, GracePlan) else change
            context["fields"] = [
                *(("topic", name) for name in names),
                *((key, parameters[key]) for key in ("do", "setting", "value", "undo") if parameters.get(key)),
            ]
            if request.method == "POST":
                return _apply(request, change)
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


def _change(
    context: dict[str, Any], undo: str, names: list[str], reach: Reach
) -> GracePlan | DeletionOfMany | SettingOfMany:
    """Raises GatewayError, Http404."""
    if undo:
        setting, values = _kept(context["setting"], undo)
        within = changeable_topics(reach).filter(name__in=values)
        return _setting_plan(setting, {topic: values[topic.name] for topic in within})
    topics = list(changeable_topics(reach).filter(name__in=names[:TOPICS_MAX]))
    if missing := sorted(set(names) - {topic.name for topic in topics}):
        raise RefusedError(
            "UNKNOWN_TOPIC_OR_PARTITION", f"There is no topic {missing[0][:100]}, or too many are chosen."
        )
    if context["do"] == DELETING_LATER:
        return deletion_later(topics, reach)
    if context["do"] == DELETING:
        return deletion_of_many(doomed_topics(topics, reach), here.BOOTSTRAP_SERVERS)
    if context["do"] != SETTING or not context["setting"] or not context["value"].strip():
        raise RefusedError("INVALID_REQUEST", "Choose what to do with them; a setting needs its name and a value.")
    typed = plain_value(context["setting"], context["value"].strip())
    return _setting_plan(context["setting"], dict.fromkeys(topics, typed))


def _kept(setting: str, number: str) -> tuple[str, dict[str, str]]:
    kept = find_inverse("topics", setting, number)
    if kept is None:
        raise Http404("This change is not kept any more.")
    return setting, kept.values


def _setting_plan(name: str, wanted: dict[Topic, str]) -> SettingOfMany:
    gateway, edits = cluster_gateway(), []
    for topic, typed in wanted.items():
        known = changeable(gateway.topic_settings(topic.name))
        if name not in known:
            raise RefusedError("INVALID_CONFIG", f"{name} is no setting that is changed here.")
        gateway.check_topic_settings(topic.name, {name: None if typed == DEFAULT else typed})
        edits.append(TopicEdit(topic.name, topic.topic_id, topic.replication_factor, known[name], typed))
    return setting_of_many(edits, here.BOOTSTRAP_SERVERS)


def _apply(request: UserRequest, change: GracePlan | DeletionOfMany | SettingOfMany) -> HttpResponse:
    confirmation = Confirmation.parse(request.POST)
    if isinstance(change, GracePlan):
        due = do_delete_later(request.user, change.plan, change.topics, change.traces, confirmation)
        are = "is" if len(change.topics) == 1 else "are"
        messages.success(
            request, f"{counted(len(change.topics))} {are} deleted at {minute(due)}, unless it is called off."
        )
        return redirect("topics-planned")
    query = ""
    if isinstance(change, DeletionOfMany):
        refused = do_delete_many(request.user, change, confirmation)
    else:
        refused, kept = do_set_many(request.user, change, confirmation)
        query = f"?setting={change.setting}&undo={kept.pk}" if kept else ""
    done = len(change.lines) - len(refused)
    undo = format_html(' <a href="{}{}">Plan the undo…</a>', reverse("topics-many"), query) if query else ""
    messages.success(request, format_html("{}: done.{}", counted(done), undo))
    for name, why in list(refused.items())[:5]:
        messages.warning(request, f"{name}: {why}")
    return redirect("topics")
