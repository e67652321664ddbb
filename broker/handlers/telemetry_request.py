"""What both telemetry APIs share: which client instance asks."""

from uuid import UUID

from broker.config.client_metrics import (
    CLIENT_ID,
    CLIENT_SOFTWARE_NAME,
    CLIENT_SOFTWARE_VERSION,
    CLIENT_SOURCE_ADDRESS,
)
from broker.runtime.requests.context import RequestContext
from broker.runtime.telemetry.client_instances import ClientInstance


def client_instance(instance_id: UUID, context: RequestContext) -> ClientInstance:
    """Return the instance with its present subscription. Raises ApiError THROTTLING_QUOTA_EXCEEDED, see `of`."""
    telemetry, session = context.services.telemetry, context.session
    attributes = {
        CLIENT_ID: context.client_id,
        CLIENT_SOFTWARE_NAME: session.software[0],
        CLIENT_SOFTWARE_VERSION: session.software[1],
        CLIENT_SOURCE_ADDRESS: session.host,
    }
    subscriptions = telemetry.subscriptions
    now_ms = context.services.clock.monotonic_ms()
    return telemetry.instances.of(
        instance_id, session.owner, attributes, subscriptions.by_name.values(), subscriptions.version, now_ms
    )
