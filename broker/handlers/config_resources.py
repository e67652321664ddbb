"""What the three config APIs share: which resources there are, and who answers for them."""

from enum import IntEnum

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import RequestContext


class ResourceType(IntEnum):
    """Values of `resource_type`."""

    TOPIC = 2
    BROKER = 4


def check_topic(name: str, context: RequestContext) -> None:
    if name not in context.services.metadata.topics:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name!r}")


def check_broker(name: str, context: RequestContext) -> None:
    """A broker's configuration is known to itself alone."""
    own = context.services.config.broker_id
    if name != str(own):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"this is broker {own}; ask broker {name!r} for its configuration")


def unknown_resource(resource_type: int) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, f"resource type {resource_type} has no configuration here; 2 is a topic")


def refuse_broker_change() -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, "a broker's configuration is its file; change that and restart it")
