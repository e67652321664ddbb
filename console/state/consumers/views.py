"""The list of groups, the page of one, and the tab of a topic."""

from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.kit.access.reach import Resource
from console.kit.access.rights import Right, reach_of, require_somewhere, sees_all_names
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.kit.gateway.groups.interface import CONSUMER, STREAMS
from console.kit.tables.arrangement import rows_for
from console.state.client_applications.queries import topic_clients
from console.state.clusters.access import access_topic
from console.state.consumers.access import access_group, reads_beyond
from console.state.consumers.export import (
    GROUP_TITLES,
    MEMBER_TITLES,
    PLACE_TITLES,
    group_rows,
    member_rows,
    partition_rows,
)
from console.state.consumers.members import MemberRow
from console.state.consumers.models import ConsumerGroup, GroupPartition
from console.state.consumers.queries import (
    PLACE_SORTS,
    GroupListQuery,
    chosen_groups,
    chosen_partitions,
    group_list_page,
    members_within,
    partition_page,
    partitions_in_topic,
    subtopologies_within,
    topics_left,
    types_seen,
    with_reads,
    with_topics_within,
)
from console.state.consumers.verdict import RULE


@require_safe
def group_list(request: UserRequest) -> HttpResponseBase:
    require_somewhere(request.user, Resource.GROUP, Right.VIEW)
    query, reach = GroupListQuery.parse(request.GET), reach_of(request.user)
    if wants_csv(request):
        groups = with_topics_within(chosen_groups(query, reach).iterator(), reach)
        return csv_response(request, "consumers", GROUP_TITLES, group_rows(groups))
    is_part = request.htmx.target == "group-table"
    template = "consumers/partials/group-table.html" if is_part else "consumers/list.html"
    types = types_seen(reach)
    page = group_list_page(query, reach, rows_for(request, "consumers"))
    context = {
        "query": query,
        "page": page,
        "drawable": [group for group in page if not group.reads_beyond],
        "bulk_verbs": (("", "Delete groups…", True),),
        "types": types,
        "has_groups": bool(types),
        "rule": RULE,
    }
    return render(request, template, context)


@require_safe
def group_page(request: UserRequest, group: str) -> HttpResponseBase:
    consumer_group = access_group(request.user, group, Right.VIEW)
    query = GroupListQuery.parse(request.GET, PLACE_SORTS, "partition")
    reach = reach_of(request.user)
    places = chosen_partitions(consumer_group, query, reach)
    if wants_csv(request):
        return _group_csv(request, consumer_group, places, members_within(consumer_group, reach))
    members = members_within(consumer_group, reach)
    context = {
        "group": consumer_group,
        "members": with_reads(consumer_group, members),
        "has_targets": any(member.target_text for member in members)
        or consumer_group.group_type in (CONSUMER, STREAMS),
        "subtopologies": subtopologies_within(consumer_group, reach),
        "left_topics": topics_left(consumer_group, reach),
        "reads_beyond": reads_beyond(consumer_group, reach),
        "query": query,
        "page": partition_page(places, query),
        "rule": RULE,
    }
    return render(request, "consumers/page.html", context)


def _group_csv(
    request: UserRequest, group: ConsumerGroup, places: QuerySet[GroupPartition], members: list[MemberRow]
) -> HttpResponseBase:
    """Return one of the page's two tables as CSV."""
    if request.GET.get("table") == "members":
        return csv_response(request, "consumer-group-members", MEMBER_TITLES, member_rows(group.name, members))
    rows = partition_rows(places.select_related("group").iterator())
    return csv_response(request, "consumer-group", PLACE_TITLES, rows)


@require_safe
def topic_consumers(request: UserRequest, name: str) -> HttpResponseBase:
    topic = access_topic(request.user, name, Right.VIEW)
    query = GroupListQuery.parse(request.GET, PLACE_SORTS, "partition")
    places = partitions_in_topic(topic.name, query, reach_of(request.user))
    if wants_csv(request):
        return csv_response(request, "consumers-of-topic", PLACE_TITLES, partition_rows(places.iterator()))
    page = partition_page(places, query)
    groups = {value.group.pk: value.group for value in page}
    context = {"topic": topic, "query": query, "page": page, "groups": groups.values()}
    context["clients"] = topic_clients(topic.name, "fetch", shows_addresses=sees_all_names(request.user))
    return render(request, "consumers/topic.html", context)
