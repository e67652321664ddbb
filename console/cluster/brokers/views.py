"""The list of brokers, the page of one, and its partitions."""

from django.http import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from console.cluster.brokers.export import (
    PARTITION_TITLES,
    REQUEST_TITLES,
    TITLES,
    broker_rows,
    partition_cells,
    request_cells,
)
from console.cluster.brokers.queries import (
    ROLES,
    HeldPartition,
    PartitionQuery,
    broker_facts,
    held_partitions,
    partition_page,
    report_of,
)
from console.cluster.brokers.restart_safety import with_restart_safety
from console.cluster.brokers.state_names import with_state_names
from console.kit.access.rights import Right, has_right, reach_of, require, sees_all_names
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.user_request import UserRequest
from console.state.clusters.access import access_broker
from console.state.clusters.models import Broker


@require_safe
def broker_list(request: UserRequest) -> HttpResponseBase:
    require(request.user, Right.VIEW)
    brokers = with_restart_safety(with_state_names(Broker.objects.all(), reach_of(request.user)))
    if wants_csv(request):
        return csv_response(request, "brokers", TITLES, broker_rows(brokers))
    return render(request, "brokers/list.html", {"brokers": brokers})


@require_safe
def broker_page(request: UserRequest, broker_id: int) -> HttpResponseBase:
    broker = access_broker(request.user, broker_id, Right.VIEW)
    if wants_csv(request):
        rows = map(request_cells, report_of(broker_id).requests)
        return csv_response(request, f"broker-{broker_id}-requests", REQUEST_TITLES, rows)
    names_clients = has_right(request.user, Right.OPERATE) and sees_all_names(request.user)
    facts = broker_facts(broker, reach_of(request.user)) | {"names_clients": names_clients}
    return render(request, "brokers/page.html", facts)


@require_safe
def broker_partitions(request: UserRequest, broker_id: int) -> HttpResponseBase:
    broker = access_broker(request.user, broker_id, Right.VIEW)
    query = PartitionQuery.parse(request.GET)
    partitions = held_partitions(broker_id, query, reach_of(request.user))
    if wants_csv(request):
        rows = (partition_cells(HeldPartition(partition, broker_id)) for partition in partitions.iterator(2_000))
        return csv_response(request, f"broker-{broker_id}-partitions", PARTITION_TITLES, rows)
    page, held = partition_page(partitions, broker_id, request.GET.get("page", ""))
    context = {"broker": broker, "query": query, "page": page, "held": held, "roles": ROLES.items()}
    return render(request, "brokers/partitions.html", context)
