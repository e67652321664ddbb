"""Rights as the test lists them: nothing follows from anything else."""

from collections.abc import Iterable

from broker.common.errors import ErrorCode
from broker.protocol.messages.api_versions import ApiVersionsRequest
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType, bits
from broker.security.rights import UNLIMITED
from tests.broker.server.conftest import Client, Served

Right = tuple[AclOperation, ResourceType, str]

#: What who may not do something hears of it, by the type of what he would do it with.
DENIALS = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def on_topic(operation: AclOperation, name: str = "t") -> Right:
    return operation, ResourceType.TOPIC, name


def on_group(operation: AclOperation, name: str = "g") -> Right:
    return operation, ResourceType.GROUP, name


def on_cluster(operation: AclOperation) -> Right:
    return operation, ResourceType.CLUSTER, CLUSTER_NAME


def on_transaction(operation: AclOperation, name: str = "x") -> Right:
    return operation, ResourceType.TRANSACTIONAL_ID, name


class Allowed:
    """Just these rights; `denied` are the attempts at something else, as the authorizer's log would have them."""

    def __init__(self, rights: Iterable[Right] = ()):
        self.rights = set(rights)
        self.denied: list[Right] = []
        self.untold_writes: set[str] = set()

    def may(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        right = (operation, kind, name)
        if right not in self.rights:
            self.denied.append(right)
        return right in self.rights

    def sees(self, operation: AclOperation, kind: ResourceType, name: str) -> bool:
        return (operation, kind, name) in self.rights

    def may_on_any(self, operation: AclOperation, kind: ResourceType) -> bool:
        return any(right[:2] == (operation, kind) for right in self.rights)

    def operations(self, kind: ResourceType, name: str) -> int:
        return bits(right[0] for right in self.rights if right[1:] == (kind, name))


async def client_with(served: Served, rights: Allowed | Iterable[Right]) -> Client:
    """A client that has these rights and no others."""
    served.rights = rights if isinstance(rights, Allowed) else Allowed(rights)
    client = await served.client()
    await client.ask(ApiVersionsRequest(), 0)
    served.rights = UNLIMITED
    return client
