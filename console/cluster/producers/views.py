"""The tab of who writes to a topic, and the end of a transaction that hangs: the plan first, then the marker.

It asks the brokers while it is drawn, as the retention tab does: who writes changes with every record.
"""

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from console.cluster.producers.actions import do_abort
from console.cluster.producers.plan import abort_plan
from console.cluster.producers.queries import OPEN_SHOWN, TITLES, export_rows, writers_of
from console.kit.access.rights import Right, sees_all_names
from console.kit.common.csv_table import csv_response, wants_csv
from console.kit.common.current_cluster import here
from console.kit.common.user_request import UserRequest
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.plans.plan import Confirmation, MovedOnError
from console.kit.plans.views import refusable
from console.state.client_applications.queries import topic_clients
from console.state.clusters.access import access_changing, access_topic


@require_safe
def producers(request: UserRequest, name: str) -> HttpResponseBase:
    """Show a topic's producers. Transactional ids are shown only to people who may see all names."""
    topic = access_topic(request.user, name, Right.VIEW)
    shows_ids = sees_all_names(request.user)
    context: dict[str, object] = {"topic": topic, "shows_ids": shows_ids}
    context["clients"] = topic_clients(topic.name, "produce", shows_addresses=shows_ids)
    try:
        writers = writers_of(cluster_gateway(), topic)
    except GatewayError as error:
        return render(request, "producers/page.html", context | {"error": str(error)})
    if wants_csv(request):
        return csv_response(request, f"producers-{topic.name}", TITLES, export_rows(writers, shows_ids=shows_ids))
    return render(request, "producers/page.html", context | {"writers": writers, "open": writers.open[:OPEN_SHOWN]})


@require_http_methods(["GET", "HEAD", "POST"])
def abort(request: UserRequest, name: str, partition: int, offset: int) -> HttpResponse:
    """Abort the transaction that began at `offset` of `partition`, as the partition and the coordinators
    report it now.
    """
    topic = access_changing(request.user, name)
    context: dict[str, object] = {"topic": topic, "partition": partition, "offset": offset, "address": request.path}
    with refusable() as answer:
        transaction = writers_of(cluster_gateway(), topic, [partition]).one(partition, offset)
        if transaction is None:
            raise MovedOnError(f"No transaction is open in {topic.name}-{partition} that began at offset {offset}.")
        plan = abort_plan(topic.name, transaction, here.BOOTSTRAP_SERVERS, here.ZOOKEEPER)
        context |= {"plan": plan, "open": transaction}
        if request.method == "POST":
            do_abort(request.user, plan, transaction.producer, Confirmation.parse(request.POST))
            messages.success(request, f"The transaction was aborted in {topic.name}-{partition}.")
            return redirect("topic-producers", topic.name)
    return render(request, "producers/abort.html", context | {"error": answer.error}, status=answer.status)
