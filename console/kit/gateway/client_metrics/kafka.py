"""Subscriptions to client metrics of a real cluster: settings of resources of the type CLIENT_METRICS."""

from collections.abc import Mapping

from broker.common.errors import ErrorCode
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.messages.list_config_resources import ListConfigResourcesRequest
from console.kit.gateway.client_metrics.interface import ClientMetricsSubscription
from console.kit.gateway.connection.any_broker import ask
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import refusal

NOT_SERVED = "These brokers take no metrics of clients (KIP-714): Kafka from 3.7 on does with KRaft."
#: Of config resources, and the source of what a resource of it says itself.
_RESOURCE_TYPE, _OWN_SOURCE = 16, 7


class KafkaClientMetrics:
    def __init__(self, client: ClusterClient):
        self._client = client

    def subscriptions(self) -> tuple[ClientMetricsSubscription, ...]:
        of_type = ListConfigResourcesRequest(resource_types=[_RESOURCE_TYPE])
        listed = ask(self._client, lambda cluster: cluster.ask_any(of_type), NOT_SERVED)
        if listed.error_code == ErrorCode.UNSUPPORTED_VERSION:
            raise refusal(listed.error_code, NOT_SERVED)
        if listed.error_code:
            raise refusal(listed.error_code)
        names = sorted(resource.resource_name for resource in listed.config_resources)
        if not names:
            return ()
        resources = [
            DescribeConfigsResource(resource_type=_RESOURCE_TYPE, resource_name=name, configuration_keys=None)
            for name in names
        ]
        request = DescribeConfigsRequest(resources=resources, include_synonyms=False, include_documentation=False)
        described = ask(self._client, lambda cluster: cluster.ask_any(request), NOT_SERVED)
        return tuple(map(_subscription, described.results))

    def check(self, name: str, changes: Mapping[str, str | None]) -> None:
        self._alter(name, changes, validate_only=True)

    def change(self, name: str, changes: Mapping[str, str | None]) -> None:
        self._alter(name, changes, validate_only=False)

    def _alter(self, name: str, changes: Mapping[str, str | None], *, validate_only: bool) -> None:
        configs = [
            AlterableConfig(
                name=key,
                config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
                value=value,
            )
            for key, value in changes.items()
        ]
        resource = AlterConfigsResource(resource_type=_RESOURCE_TYPE, resource_name=name, configs=configs)
        request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), NOT_SERVED)
        for result in answer.responses:
            if result.error_code:
                raise refusal(result.error_code, result.error_message or "")


def _subscription(result: DescribeConfigsResult) -> ClientMetricsSubscription:
    if result.error_code:
        raise refusal(result.error_code, result.error_message or "")
    return ClientMetricsSubscription(
        result.resource_name,
        {entry.name: entry.value or "" for entry in result.configs if entry.config_source == _OWN_SOURCE},
        {entry.name: entry.value or "" for entry in result.configs},
    )
