"""Changing topics: ask the cluster, keep an audit row, whatever the answer. The collector pushes the result."""

from console.audit.record import record_event
from console.gateway.connect import cluster_gateway
from console.gateway.errors import GatewayError, RefusedError
from console.plans.apply import carry_out
from console.plans.plan import Confirmation, Plan
from console.topics.models import Topic


def do_create_topic(actor, plan: Plan, confirmation: Confirmation) -> None:
    """Create a topic as planned. Raises NotConfirmedError, GatewayError; whatever happens is in the audit."""
    values = plan.after
    carry_out(actor, plan, confirmation, lambda: cluster_gateway().create_topic(plan.object_name, **values))


def do_delete_topic(actor, topic: Topic) -> None:
    """Delete a topic and its records. Raises GatewayError if the cluster refused or did not answer; that is audited."""
    before = {
        "topic_id": topic.topic_id,
        "partition_count": topic.partition_count,
        "replication_factor": topic.replication_factor,
        "record_count": topic.record_count,
    }
    try:
        cluster_gateway().delete_topic(topic.name)
    except GatewayError as error:
        _record_failure(actor, "delete topic", topic.name, error, before=before)
        raise
    record_event(actor, "delete topic", "topic", topic.name, before=before)


def _record_failure(actor, action: str, name: str, error: GatewayError, **values: dict) -> None:
    result = "refused" if isinstance(error, RefusedError) else "failed"
    record_event(actor, action, "topic", name, result=result, detail=str(error), **values)
