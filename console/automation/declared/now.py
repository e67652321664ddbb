"""What is true now of what is declared: the cluster and Kafka Connect, each asked once, and only for what is needed."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

from console.ecosystem.connectors.answers import ConnectorView
from console.ecosystem.connectors.client import connect_client
from console.kit.gateway.acls.interface import AclView
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.groups.interface import GroupsView, GroupView, is_ledger
from console.kit.gateway.interface import INTERNAL_TOPICS, TopicView
from console.kit.gateway.quotas.interface import Quotas
from console.kit.gateway.retention.interface import SettingView

#: Settings are asked for topic by topic.
_ASKED_AT_ONCE = 4


class ClusterNow:
    """Every look raises GatewayError."""

    def __init__(self) -> None:
        self._settings: dict[str, tuple[SettingView, ...]] = {}

    @cached_property
    def topics(self) -> dict[str, TopicView]:
        return {topic.name: topic for topic in cluster_gateway().describe_topics()}

    def settings(self, topic: str) -> tuple[SettingView, ...]:
        if topic not in self._settings:
            self.ask_settings([topic])
        return self._settings[topic]

    def ask_settings(self, topics: Collection[str]) -> None:
        gateway = cluster_gateway()
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            self._settings.update(zip(topics, pool.map(gateway.topic_settings, topics), strict=True))

    @cached_property
    def rules(self) -> AclView:
        return cluster_gateway().acls.look()

    @cached_property
    def quotas(self) -> Quotas:
        return cluster_gateway().quotas.describe()

    @cached_property
    def all_groups(self) -> GroupsView:
        return cluster_gateway().groups.describe()

    @cached_property
    def groups(self) -> dict[str, GroupView]:
        return {group.group_id: group for group in self.all_groups.groups if not is_ledger(group.group_id)}

    @cached_property
    def connectors(self) -> dict[str, ConnectorView]:
        return {connector.name: connector for connector in connect_client().connectors().connectors}


def is_kafkas_own(name: str, view: TopicView | None) -> bool:
    return name in INTERNAL_TOPICS or (view is not None and view.is_internal)
