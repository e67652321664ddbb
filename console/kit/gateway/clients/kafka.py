"""Brokers asked one by one which clients write and read topics, as a member or an administrator."""

from collections.abc import Iterator, Mapping

from broker.protocol.messages.describe_client_traffic import (
    DescribeClientTrafficRequest,
    DescribeClientTrafficResponse,
)
from broker.security.client_traffic import Direction
from console.kit.gateway.brokers.kafka import KafkaBrokers
from console.kit.gateway.clients.interface import ClientView, TrafficView
from console.kit.gateway.connection.membership import ConsoleMembership


class KafkaClients:
    def __init__(self, brokers: KafkaBrokers, membership: ConsoleMembership):
        self._brokers = brokers
        self._membership = membership

    def traffic(self) -> Mapping[int, tuple[TrafficView, ...] | None]:
        responses = self._brokers.ask_each(lambda _: DescribeClientTrafficRequest(), self._membership())
        return {
            broker_id: None if response is None or response.error_code else tuple(_traffic(response))
            for broker_id, response in responses.items()
        }


def _traffic(response: DescribeClientTrafficResponse) -> Iterator[TrafficView]:
    for client in response.clients:
        view = ClientView(
            client.principal, client.client_id, client.host, client.software_name, client.software_version
        )
        for topic in client.topics:
            yield TrafficView(
                view,
                topic.name,
                topic.direction == Direction.PRODUCE,
                topic.records,
                topic.bytes_count,
                topic.records_per_second,
                topic.bytes_per_second,
                topic.idle_ms,
            )
