"""Quotas of a real cluster, by Describe- and AlterClientQuotas (KIP-546)."""

from collections.abc import Mapping

from broker.common.errors import ApiError
from broker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData, OpData
from broker.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from console.kit.gateway.connection.any_broker import ask
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import refusal
from console.kit.gateway.quotas.interface import QuotaEntity, Quotas, Values, entity_of, keys_of

_NOT_SERVED = "These brokers keep no quotas: they do not limit what users, clients and addresses may use."


class KafkaQuotas:
    def __init__(self, client: ClusterClient):
        self._client = client

    def describe(self) -> Quotas:
        request = DescribeClientQuotasRequest(components=[], strict=False)
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), _NOT_SERVED)
        if answer.error_code:
            raise refusal(answer.error_code, answer.error_message or "")
        quotas: dict[QuotaEntity, Values] = {}
        for entry in answer.entries or ():
            try:
                entity = entity_of((value.entity_type, value.entity_name) for value in entry.entity)
            except ApiError:  # of a kind that is younger than what is known here
                continue
            known = keys_of(entity)
            quotas[entity] = {value.key: value.value for value in entry.values if value.key in known}
        return {entity: values for entity, values in quotas.items() if values}

    def change(self, entity: QuotaEntity, changes: Mapping[str, float | None]) -> None:
        entry = EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.parts],
            ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in changes.items()],
        )
        request = AlterClientQuotasRequest(entries=[entry], validate_only=False)
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), _NOT_SERVED)
        for result in answer.entries:
            if result.error_code:
                raise refusal(result.error_code, result.error_message or "")
