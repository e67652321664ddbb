"""What handlers ask of a session's rights: by name, and before they look whether there is such a thing.

What may not be done is refused; of a list, what may not be seen is left out, and nobody is told (KAFKA-14236). Rights
without limits are not asked, so that they cost nothing.
"""

from collections.abc import Callable, Collection
from typing import Any

from broker.common.errors import ApiError, ErrorCode
from broker.protocol.made_late import chosen
from broker.runtime.in_turns import in_turns
from broker.runtime.requests.context import RequestContext
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.rights import UNLIMITED

_NO_NAMES: frozenset[str] = frozenset()
_CLUSTER_METADATA = "__cluster_metadata"

_CODES = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def require(operation: AclOperation, kind: ResourceType, name: str, context: RequestContext) -> None:
    """Raises the ApiError of the kind unless the client may do that."""
    if not context.session.rights.may(operation, kind, name):
        raise ApiError(_CODES[kind])


def require_on_cluster(operation: AclOperation, context: RequestContext) -> None:
    """Raises ApiError(CLUSTER_AUTHORIZATION_FAILED) unless the client may do that."""
    require(operation, ResourceType.CLUSTER, CLUSTER_NAME, context)


def sees_cluster(operation: AclOperation, context: RequestContext) -> bool:
    """Return whether the client may do that with the cluster; not told, as another right may do instead."""
    return context.session.rights.sees(operation, ResourceType.CLUSTER, CLUSTER_NAME)


def may_create(topic: str, context: RequestContext) -> bool:
    """Return whether the client may create any topic or that one; never Kafka's metadata topic."""
    if topic == _CLUSTER_METADATA:
        return False
    is_any = sees_cluster(AclOperation.CREATE, context)
    return is_any or context.session.rights.may(AclOperation.CREATE, ResourceType.TOPIC, topic)


async def denied_topics(operation: AclOperation, names: Collection[str], context: RequestContext) -> Collection[str]:
    """Return the topics on which the client may not do that; each is checked once."""
    rights = context.session.rights
    if rights is UNLIMITED:
        return _NO_NAMES
    once = set(names)
    answers = await in_turns(once, lambda name: rights.may(operation, ResourceType.TOPIC, name), context.services.turns)
    return {name for name, may in zip(once, answers, strict=True) if not may}


async def only_seen(
    kind: ResourceType, things: Collection[Any], name_of: Callable[[Any], str], context: RequestContext
) -> Any:
    """Return those of `things` that the client may describe."""
    rights = context.session.rights
    if rights is UNLIMITED:
        return things
    is_seen = await in_turns(
        things, lambda turn: rights.sees(AclOperation.DESCRIBE, kind, name_of(turn)), context.services.turns
    )
    return chosen(things, is_seen)


def cluster_operations(context: RequestContext) -> int:
    """Return the authorized operations on the cluster, as a bit field (KIP-430); none without Describe."""
    rights = context.session.rights
    if not rights.may(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return 0
    return rights.operations(ResourceType.CLUSTER, CLUSTER_NAME)
