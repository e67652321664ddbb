"""The topics list and the page of one topic."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.notes.queries import note_of
from console.cluster.topics.eligible import eligible_panel, with_eligible
from console.cluster.topics.export import PARTITION_TITLES, TOPIC_TITLES, partition_rows, topic_rows
from console.cluster.topics.many import DELETING, DELETING_LATER
from console.cluster.topics.queries import TopicListQuery, chosen_topics, partition_page, topic_page
from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.tables.arrangement import rows_for
from console.state.clusters.access import access_topic, rights_on_topic
from console.state.clusters.models import Partition

#: Of the bar below the list: what is done, as the page of many topics calls it, its words, whether it deletes.
BULK_VERBS = (
    ("", "Change a setting…", False),
    (DELETING_LATER, "Delete after a day…", True),
    (DELETING, "Delete now…", True),
)


@require_safe
def topic_list(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.TOPIC, Right.VIEW)
    query, reach = TopicListQuery.parse(request.GET), reach_of(request.user)
    if wants_csv(request):
        rows = topic_rows(chosen_topics(query, reach).iterator(), reach)
        return csv_response(request, "topics", TOPIC_TITLES, rows)
    template = "topics/partials/topic-table.html" if request.htmx.target == "topic-table" else "topics/list.html"
    page = topic_page(query, reach, rows_for(request, "topics"))
    return render(request, template, {"query": query, "page": page, "bulk_verbs": BULK_VERBS})


@require_safe
def topic_detail(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    if wants_csv(request):
        partitions = Partition.objects.filter(topic=topic).select_related("topic").iterator()
        return csv_response(request, f"partitions-{topic.name}", PARTITION_TITLES, partition_rows(partitions))
    page = partition_page(topic, request.GET.get("page", "1"))
    panel = eligible_panel(topic)
    page.object_list = with_eligible(page.object_list, panel)
    context = {
        "topic": topic,
        "page": page,
        "note": note_of(topic.name),
        "eligible": panel,
        "reads_records": Right.RECORDS in rights_on_topic(reach_of(request.user), topic),
    }
    return render(request, "topics/detail.html", context)
