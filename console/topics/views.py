"""The topics list, the page of one topic, and creating and deleting."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.access.objects import access_topic
from console.access.reach import Resource
from console.access.rights import Right, reach_of, require_somewhere
from console.brokers.models import Broker
from console.exports.csv_table import csv_response, wants_csv
from console.gateway.errors import GatewayError
from console.plans.plan import Confirmation, NotConfirmedError
from console.topics.actions import do_create_topic, do_delete_topic
from console.topics.creation import creation_plan
from console.topics.export import PARTITION_TITLES, TOPIC_TITLES, partition_rows, topic_rows
from console.topics.forms import CreateTopicForm, DeleteTopicForm
from console.topics.models import Partition
from console.topics.queries import TopicListQuery, chosen_topics, partition_page, topic_page

#: Survives the loss of any two brokers; more copies cost more than they add.
_REPLICAS_WISE = 3


@require_safe
def topic_list(request: HttpRequest) -> HttpResponse:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    query, reach = TopicListQuery.parse(request.GET), reach_of(request.user)
    if wants_csv(request):
        rows = topic_rows(chosen_topics(query, reach).iterator(), reach)
        return csv_response(request, "topics", TOPIC_TITLES, rows)
    template = "topics/partials/topic-table.html" if request.htmx.target == "topic-table" else "topics/list.html"
    return render(request, template, {"query": query, "page": topic_page(query, reach)})


@require_safe
def topic_detail(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_topic(request.user, name, Right.VIEW)
    if wants_csv(request):
        partitions = Partition.objects.filter(topic=topic).select_related("topic").iterator()
        return csv_response(request, f"partitions-{topic.name}", PARTITION_TITLES, partition_rows(partitions))
    context = {"topic": topic, "page": partition_page(topic, request.GET.get("page", "1"))}
    return render(request, "topics/detail.html", context)


@require_http_methods(["GET", "POST"])
def topic_create(request: HttpRequest) -> HttpResponse:
    """The form, then the plan it makes, then the topic: a post with the plan's digest confirms it."""
    require_somewhere(request.user, Resource.TOPIC, Right.OPERATE)
    brokers = list(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    replicas = max(1, min(_REPLICAS_WISE, len(brokers)))
    form = CreateTopicForm(request.user, request.POST or None, initial={"replication_factor": replicas})
    if request.method != "POST" or not form.is_valid():
        return render(request, "topics/create.html", {"form": form}, status=422 if form.errors else 200)
    plan = creation_plan(**form.cleaned_data, brokers=brokers, bootstrap_servers=settings.BOOTSTRAP_SERVERS)
    error, status = "", 200
    if "digest" in request.POST:
        try:
            do_create_topic(request.user, plan, Confirmation.parse(request.POST))
        except NotConfirmedError as refusal:
            error, status = str(refusal), refusal.status
        except GatewayError as refusal:
            error, status = str(refusal), 422
        else:
            messages.success(request, f"Topic {plan.object_name} was created.")
            return redirect("topics")
    context = {"form": form, "plan": plan, "fields": form.cleaned_data.items(), "error": error}
    return render(request, "topics/create.html", context, status=status)


@require_http_methods(["GET", "POST"])
def topic_delete(request: HttpRequest, name: str) -> HttpResponse:
    topic = access_topic(request.user, name, Right.OPERATE)
    form = DeleteTopicForm(topic, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            do_delete_topic(request.user, topic)
        except GatewayError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"Topic {topic.name} is being deleted.")
            return redirect("topics")
    context = {"topic": topic, "form": form}
    return render(request, "topics/delete.html", context, status=422 if form.errors else 200)
