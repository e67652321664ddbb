"""Where `kafka-acls` finds and changes rules: through brokers, or as before Kafka 2.1 directly in ZooKeeper."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from broker.cli.frame.answers import check
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.zookeeper import ZooKeeperAccess
from broker.client.cluster import ClusterConnections
from broker.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from broker.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from broker.protocol.messages.describe_acls import DescribeAclsRequest
from broker.security.acls.checks import refusal_of
from broker.security.acls.filters import EntryFilter, PatternFilter
from broker.security.acls.model import AclEntry, Binding, Pattern, PatternType, Permission
from broker.security.operations import AclOperation, ResourceType

if TYPE_CHECKING:
    from broker.zookeeper.acl_nodes import AclStore

Found = TypeVar("Found")
Rules = Mapping[Pattern, Iterable[AclEntry]]


class AclKeeper(Protocol):
    """The authorizer behind kafka-acls; ApiError, BrokerUnreachable or CommandError if it does not answer."""

    def matching(self, wanted: PatternFilter) -> Rules: ...

    def add(self, pattern: Pattern, entries: Sequence[AclEntry]) -> None: ...

    def remove(self, wanted: PatternFilter, entries: Sequence[AclEntry]) -> None:
        """Remove those entries of each pattern that matches; without entries, all of them."""
        ...


class Brokers:
    def __init__(self, cluster: ClusterConnections):
        self._cluster = cluster

    def matching(self, wanted: PatternFilter) -> Rules:
        answer = self._cluster.ask_any(
            DescribeAclsRequest(
                resource_type_filter=wanted.kind,
                resource_name_filter=wanted.name,
                pattern_type_filter=wanted.type,
                principal_filter=None,
                host_filter=None,
                operation=AclOperation.ANY,
                permission_type=Permission.ANY,
            )
        )
        check(answer.error_code, answer.error_message)
        return {
            Pattern(ResourceType(one.resource_type), one.resource_name, PatternType(one.pattern_type)): [
                AclEntry(acl.principal, acl.host, AclOperation(acl.operation), Permission(acl.permission_type))
                for acl in one.acls
            ]
            for one in answer.resources
        }

    def add(self, pattern: Pattern, entries: Sequence[AclEntry]) -> None:
        creations = [
            AclCreation(
                resource_type=pattern.kind,
                resource_name=pattern.name,
                resource_pattern_type=pattern.type,
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for entry in entries
        ]
        for result in self._cluster.ask_any(CreateAclsRequest(creations=creations)).results:
            check(result.error_code, result.error_message)

    def remove(self, wanted: PatternFilter, entries: Sequence[AclEntry]) -> None:
        wanted_entries: Sequence[AclEntry | EntryFilter] = entries or [EntryFilter()]
        filters = [
            DeleteAclsFilter(
                resource_type_filter=wanted.kind,
                resource_name_filter=wanted.name,
                pattern_type_filter=wanted.type,
                principal_filter=entry.principal,
                host_filter=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for entry in wanted_entries
        ]
        for result in self._cluster.ask_any(DeleteAclsRequest(filters=filters)).filter_results:
            check(result.error_code, result.error_message)
            for acl in result.matching_acls:
                check(acl.error_code, acl.error_message)


class InZooKeeper:
    """Access lists changed in ZooKeeper itself, without a broker; brokers are notified of each change."""

    def __init__(self, zookeeper: ZooKeeperAccess):
        self._zookeeper = zookeeper

    def matching(self, wanted: PatternFilter) -> Rules:
        async def load(store: "AclStore") -> Rules:
            return await store.load()

        return {pattern: entries for pattern, entries in self._ask(load).items() if wanted.matches(pattern)}

    def add(self, pattern: Pattern, entries: Sequence[AclEntry]) -> None:
        for entry in entries:
            if reason := refusal_of(Binding(pattern, entry)):
                raise CommandError(reason)

        async def write(store: "AclStore") -> None:
            await store.ensure_paths()
            await store.change(pattern, lambda present: tuple(dict.fromkeys((*present, *entries))))

        self._ask(write)

    def remove(self, wanted: PatternFilter, entries: Sequence[AclEntry]) -> None:
        async def write(store: "AclStore") -> None:
            for pattern in [item for item in await store.load() if wanted.matches(item)]:
                await store.change(
                    pattern, lambda present: tuple(one for one in present if entries and one not in entries)
                )

        self._ask(write)

    def _ask(self, ask: Callable[["AclStore"], Awaitable[Found]]) -> Found:
        from broker.zookeeper.acl_nodes import AclStore

        return self._zookeeper.read(lambda session: ask(AclStore(session)), "of access rules")
