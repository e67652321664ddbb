"""Consumer groups of a real cluster."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future

from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import ListOffsetsResultInfo, OffsetSpec

from console.kit.gateway.connection.admin_results import wait_for
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import GatewayError, as_gateway_errors
from console.kit.gateway.groups.changes import GroupOperations
from console.kit.gateway.groups.commit_log import CommitLog
from console.kit.gateway.groups.interface import (
    CommitView,
    GroupsView,
    GroupView,
    OffsetBounds,
    OffsetRefusals,
    TopicPartition,
    UnreadView,
    is_ledger,
)
from console.kit.gateway.groups.unread import ask_first_unread
from console.kit.gateway.groups.wire import ask_all_groups, ask_group
from console.kit.gateway.topics.offset_times import offset_spec_at

CHANGE_TIMEOUT_SECONDS = 10.0


class KafkaGroups:
    """`brokers()` are (id, host, port) of the live ones."""

    def __init__(
        self,
        client: ClusterClient,
        brokers: Callable[[], Iterable[tuple[int, str, int]]],
        timeout_seconds: float,
    ):
        self._client = client
        self._brokers = brokers
        self._timeout = timeout_seconds
        self._commit_log = CommitLog(client, timeout_seconds)
        self._changes = GroupOperations(client, CHANGE_TIMEOUT_SECONDS)

    def describe(self) -> GroupsView:
        """Describe the groups. Raises GatewayError, preferably a broker's own, if none lists its groups."""
        groups, answered = ask_all_groups(self._client, self._brokers(), self._timeout)
        # A coordinator that moves is told by two brokers for a moment: the first one wins.
        by_name = {group.group_id: group for group in reversed(groups) if not is_ledger(group.group_id)}
        return GroupsView(tuple(by_name[name] for name in sorted(by_name)), answered)

    def describe_one(self, group_id: str) -> GroupView:
        with as_gateway_errors():
            return ask_group(self._client, group_id, self._timeout)

    def commits(self) -> list[CommitView]:
        return self._commit_log.read()

    def first_unread(self, positions: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, UnreadView]:
        if not positions:
            return {}
        with as_gateway_errors():
            return ask_first_unread(self._client, positions, self._timeout)

    def bounds(self, places: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetBounds]:
        wanted = list(places)
        first = self._ask_offsets(wanted, OffsetSpec.earliest())
        following = self._ask_offsets(wanted, OffsetSpec.latest())
        firsts, nexts = self._answers(first), self._answers(following)
        return {
            place: OffsetBounds(firsts[place], nexts[place]) for place in wanted if place in firsts and place in nexts
        }

    def offsets_at(self, places: Iterable[TopicPartition], at_ms: int) -> Mapping[TopicPartition, int]:
        wanted = list(places)
        offsets = self._answers(self._ask_offsets(wanted, offset_spec_at(at_ms)))
        newer = [place for place in wanted if offsets.get(place, 0) < 0]
        ends = self._answers(self._ask_offsets(newer, OffsetSpec.latest()))
        return {place: offset for place, offset in {**offsets, **ends}.items() if offset >= 0}

    def commit_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        with as_gateway_errors():
            return OffsetRefusals(self._changes.commit(group_id, offsets))

    def set_share_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> OffsetRefusals:
        with as_gateway_errors():
            return OffsetRefusals(self._changes.set_share_offsets(group_id, offsets))

    def delete_share_offsets(self, group_id: str, topics: Iterable[str]) -> Mapping[str, str]:
        with as_gateway_errors():
            return self._changes.delete_share_offsets(group_id, topics)

    def delete_offsets(self, group_id: str, places: Iterable[TopicPartition]) -> OffsetRefusals:
        with as_gateway_errors():
            return OffsetRefusals(self._changes.forget(group_id, places))

    def delete_group(self, group_id: str) -> None:
        with as_gateway_errors():
            self._changes.delete(group_id)

    def close(self) -> None:
        self._commit_log.close()

    def _ask_offsets(
        self, places: list[TopicPartition], spec: OffsetSpec
    ) -> dict[KafkaPartition, Future[ListOffsetsResultInfo]]:
        if not places:
            return {}
        wanted = {KafkaPartition(topic, partition): spec for topic, partition in places}
        return self._client.admin().list_offsets(wanted, request_timeout=self._timeout)

    def _answers(self, futures: Mapping[KafkaPartition, Future[ListOffsetsResultInfo]]) -> dict[TopicPartition, int]:
        answers = {}
        for partition, future in futures.items():
            try:
                answers[partition.topic, partition.partition] = wait_for(future, self._timeout).offset
            except GatewayError:
                continue
        return answers
