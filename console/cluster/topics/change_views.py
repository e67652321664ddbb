"""Creating and deleting a topic, and adding partitions: the plan first, then the change."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from console.cluster.topics.actions import do_add_partitions, do_create_topic, do_delete_topic
from console.cluster.topics.creation import CREATE, Wish, creation_plan
from console.cluster.topics.creation_check import refusals_of
from console.cluster.topics.deletion import deletion_plan, undo_creation_plan
from console.cluster.topics.enlargement import enlargement_plan
from console.cluster.topics.forms import AddPartitionsForm, CreateTopicForm
from console.cluster.topics.grace_actions import do_delete_later
from console.cluster.topics.grace_plans import deletion_later
from console.cluster.topics.own_settings import TEMPLATES, lines_of, own_of, template_named
from console.cluster.topics.queries import doomed, groups_of
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.current_cluster import here
from console.kit.common.figures import minute
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.plans.inverse import find_inverse
from console.kit.plans.plan import Confirmation, Plan
from console.kit.plans.views import is_confirmed, refusable
from console.state.clusters.access import access_changing, topics_within
from console.state.clusters.models import Broker, Topic

#: `when` a topic is deleted, if not at once.
LATER = "later"
#: Survives the loss of any two brokers; more copies cost more than they add.
_REPLICAS_WISE = 3


@require_http_methods(["GET", "HEAD", "POST"])
def topic_create(request: UserRequest) -> HttpResponse:
    """Show the form, then the plan it makes, then create the topic: a post with the plan's digest confirms it."""
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    brokers = list(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    replicas = max(1, min(_REPLICAS_WISE, len(brokers)))
    context: dict[str, Any] = {"templates": TEMPLATES}
    with refusable(200) as begun:
        context |= _begun_with(request)
    initial = {"replication_factor": replicas} | context.get("initial", {}) | _asked_for(request)
    judge = None if is_confirmed(request) else refusals_of
    form = CreateTopicForm(request.user, request.POST or None, initial=initial, judge=judge)
    context |= {"form": form, "error": begun.error}
    if request.method != "POST" or not form.is_valid():
        return render(request, "topics/create.html", context, status=422 if form.errors else 200)
    wish = Wish(**form.cleaned_data)
    plan = creation_plan(wish, brokers, here.BOOTSTRAP_SERVERS)
    with refusable() as answer:
        if is_confirmed(request):
            kept = do_create_topic(request.user, plan, Confirmation.parse(request.POST))
            address = reverse("topic-delete", args=[plan.object_name])
            undo = format_html(' <a href="{}?undo={}">Plan the undo…</a>', address, kept.pk) if kept else ""
            messages.success(request, format_html("Topic {} was created.{}", plan.object_name, undo))
            return redirect("topics")
    fields = form.cleaned_data | {"configs": lines_of(wish.configs)}
    context |= {"plan": plan, "fields": fields.items(), "error": answer.error}
    return render(request, "topics/create.html", context, status=answer.status)


def _begun_with(request: UserRequest) -> dict[str, Any]:
    """Return initial values from a template, or from another topic (`like`) with its partitions and own settings.
    Raises GatewayError.
    """
    if template := template_named(request.GET.get("template", "")):
        return {"begun_with": template, "initial": {"configs": lines_of(template.configs)}}
    if not request.GET.get("like"):
        return {}
    like = topics_within(reach_of(request.user)).filter(name=request.GET["like"]).first()
    if like is None:
        raise RefusedError("UNKNOWN_TOPIC_OR_PARTITION", "There is no such topic that you may see.")
    own = own_of(cluster_gateway().topic_settings(like.name))
    same = {"partition_count": like.partition_count, "replication_factor": like.replication_factor}
    return {"like": like.name, "initial": same | {"configs": lines_of(own)}}


def _asked_for(request: UserRequest) -> dict[str, str]:
    """Return the values that another page, as the sizing page, put into the address; the form refuses wrong ones."""
    named = ("partition_count", "replication_factor")
    return {name: request.GET[name] for name in named if request.GET.get(name, "").isdecimal()}


@require_http_methods(["GET", "HEAD", "POST"])
def topic_delete(request: UserRequest, name: str) -> HttpResponse:
    """Delete a topic; with `when` later, after a day of grace; with `undo`, a kept creation's number, only while the
    topic is empty.
    """
    topic = access_changing(request.user, name)
    parameters = request.POST if request.method == "POST" else request.GET
    undo, when = parameters.get("undo") or request.GET.get("undo", ""), parameters.get("when", "")
    if undo:
        _check_creation(name, undo)
    elif when == LATER:
        return _delete_later(request, topic)
    context = {"topic": topic, "undo": undo, "fields": [("undo", undo)] if undo else []}
    with refusable() as answer:
        plan = context["plan"] = _deletion(topic, reach_of(request.user), is_undo=bool(undo))
        if request.method == "POST":
            do_delete_topic(request.user, plan, Confirmation.parse(request.POST))
            messages.success(request, f"Topic {topic.name} is being deleted.")
            return redirect("topics")
    return render(request, "topics/delete.html", context | {"error": answer.error}, status=answer.status)


def _delete_later(request: UserRequest, topic: Topic) -> HttpResponse:
    context: dict[str, Any] = {"topic": topic, "when": LATER, "fields": [("when", LATER)]}
    with refusable() as answer:
        later = deletion_later([topic], reach_of(request.user))
        context["plan"] = later.plan
        if request.method == "POST":
            confirmation = Confirmation.parse(request.POST)
            due = do_delete_later(request.user, later.plan, later.topics, later.traces, confirmation)
            messages.success(request, f"Topic {topic.name} is deleted at {minute(due)}, unless it is called off.")
            return redirect("topic", topic.name)
    return render(request, "topics/delete.html", context | {"error": answer.error}, status=answer.status)


@require_http_methods(["GET", "HEAD", "POST"])
def topic_add_partitions(request: UserRequest, name: str) -> HttpResponse:
    """Show the form, then the plan it makes, then make the change: a post with the plan's digest confirms it."""
    topic = access_changing(request.user, name)
    form = AddPartitionsForm(
        request.POST or None, initial={"partition_count": topic.partition_count + 1} | _asked_for(request)
    )
    context = {"topic": topic, "form": form, "error": ""}
    if request.method != "POST" or not form.is_valid():
        return render(request, "topics/add-partitions.html", context, status=422 if form.errors else 200)
    wanted = form.cleaned_data["partition_count"]
    plan = enlargement_plan(topic, wanted, len(groups_of(name, reach_of(request.user))), here.BOOTSTRAP_SERVERS)
    with refusable() as answer:
        if is_confirmed(request):
            do_add_partitions(request.user, plan, Confirmation.parse(request.POST))
            count = wanted - topic.partition_count
            messages.success(request, f"{name} is being given {count} more partition{'' if count == 1 else 's'}.")
            return redirect("topic", name)
    context |= {"plan": plan, "fields": [("partition_count", wanted)], "error": answer.error}
    return render(request, "topics/add-partitions.html", context, status=answer.status)


def _check_creation(name: str, number: str) -> None:
    """Raises Http404 unless `number` is a creation of this topic that is kept."""
    kept = find_inverse("topic", name, number)
    if kept is None or kept.action != CREATE:
        raise Http404("This creation is not kept any more.")


def _deletion(topic: Topic, reach: Reach, *, is_undo: bool) -> Plan:
    """Raises GatewayError if it hangs on how much is written now and nobody says."""
    if not is_undo:
        return deletion_plan(doomed(topic, reach), here.BOOTSTRAP_SERVERS)
    spans = cluster_gateway().record_spans(topic.name, committed_only=False)
    return undo_creation_plan(doomed(topic, reach), spans, here.BOOTSTRAP_SERVERS)
