"""Brokers asked one by one over the wire, for what the admin client does not have or does not tell in full."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping

from broker.client.errors import ApiNotServed, BrokerUnreachable, LoginRefused
from broker.common.errors import BarnabasError, ErrorCode, error_code_of
from broker.config.broker import BY_NAME
from broker.config.definition import ConfigSource
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from broker.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResult,
)
from broker.protocol.messages.describe_requests import (
    DescribeRequestsBudget,
    DescribeRequestsError,
    DescribeRequestsOwner,
    DescribeRequestsQuotaUse,
    DescribeRequestsRequest,
    DescribeRequestsResponse,
    DescribeRequestsResult,
)
from broker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    ConfigOperation,
    IncrementalAlterConfigsRequest,
)
from broker.protocol.schema import Request
from broker.security.membership import ClusterMembership
from console.kit.gateway.brokers.interface import (
    ApiRequestTimes,
    BrokerSetting,
    BudgetUse,
    ErrorCount,
    LogDirView,
    NotLoaded,
    Software,
    UncleanableLog,
)
from console.kit.gateway.connection.at_once import ask_at_once
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import ClusterUnreachableError, GatewayError, refusal
from console.kit.gateway.moves.directories import directory_request
from console.kit.gateway.quorum.metadata_versions import FEATURE as METADATA_VERSION
from console.kit.gateway.quorum.metadata_versions import release_of
from console.kit.gateway.quotas.interface import QuotaUse
from console.kit.gateway.topics.setting_rules import choices_of

logger = logging.getLogger(__name__)

_BROKER_RESOURCE = 4
_SOURCES: dict[int, str] = {
    ConfigSource.BROKER: "broker",
    ConfigSource.CLUSTER: "cluster",
    ConfigSource.BROKER_FILE: "file",
    ConfigSource.DEFAULT: "default",
}


#: Highest version of Fetch → the first Kafka release that served it.
_RELEASES = {11: "2.3", 12: "2.7", 13: "3.1", 15: "3.5", 16: "3.7", 17: "3.9"}


class KafkaBrokers:
    """`addresses()` gives (id, host, port) of the registered brokers or raises GatewayError."""

    def __init__(
        self,
        client: ClusterClient,
        addresses: Callable[[], Iterable[tuple[int, str, int]]],
        membership: ConsoleMembership,
        timeout_seconds: float,
    ):
        self._client = client
        self._addresses = addresses
        self._membership = membership
        self._timeout = timeout_seconds
        self._software: dict[int, Software] = {}
        self._not_loaded: dict[int, NotLoaded] = {}
        self._foreign_brokers: dict[int, tuple[int, ...]] = {}
        self._uncleanable: dict[int, tuple[UncleanableLog, ...]] = {}
        self._budget_uses: dict[int, tuple[BudgetUse, ...]] = {}
        self._quota_uses: dict[int, tuple[QuotaUse, ...]] = {}

    def settings(self) -> Mapping[int, tuple[BrokerSetting, ...]]:
        answers = self.ask_each(_describe_settings)
        return {
            broker_id: tuple(
                sorted((_setting(config) for config in answer.results[0].configs), key=lambda config: config.name)
            )
            for broker_id, answer in answers.items()
            if answer is not None and not answer.results[0].error_code
        }

    def change_settings(self, broker_id: int | None, changes: Mapping[str, str | None]) -> None:
        request = _alteration(broker_id, changes)
        answer = self._ask_one(broker_id, request)
        if answer is None:
            raise GatewayError("This broker changes no single settings (IncrementalAlterConfigs): it is too old.")
        if answer.responses[0].error_code:
            raise refusal(answer.responses[0].error_code, answer.responses[0].error_message or "")

    def move_replicas(self, broker_id: int, wanted: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], str]:
        answer = self._ask_one(broker_id, directory_request(wanted))
        if answer is None:
            raise GatewayError("This broker moves no replicas between its directories: it is too old.")
        return {
            (topic.topic_name, partition.partition_index): str(refusal(partition.error_code))
            for topic in answer.results
            for partition in topic.partitions
            if partition.error_code
        }

    def log_dirs(self, places: Collection[tuple[str, int]] | None = None) -> Mapping[int, tuple[LogDirView, ...]]:
        request = DescribeLogDirsRequest(topics=None if places is None else _by_topic(places))
        answers = self.ask_each(lambda _: request)
        return {
            broker_id: tuple(_log_dir(result) for result in answer.results)
            for broker_id, answer in answers.items()
            if answer is not None and not answer.error_code
        }

    def software(self) -> Mapping[int, Software]:
        return dict(self._software)

    def request_times(self) -> Mapping[int, tuple[ApiRequestTimes, ...] | None]:
        answers = self.ask_each(lambda _: DescribeRequestsRequest(), self._membership())
        responses = {item: None if answer is None or answer.error_code else answer for item, answer in answers.items()}
        self._not_loaded = {item: _not_loaded(answer) for item, answer in responses.items() if answer is not None}
        self._foreign_brokers = {
            item: tuple(answer.foreign_brokers) for item, answer in responses.items() if answer is not None
        }
        self._uncleanable = {item: _uncleanable(answer) for item, answer in responses.items() if answer is not None}
        self._budget_uses = {
            item: tuple(map(_budget_use, answer.budgets)) for item, answer in responses.items() if answer is not None
        }
        self._quota_uses = {
            item: tuple(map(_quota_use, answer.quota_uses)) for item, answer in responses.items() if answer is not None
        }
        return {
            broker_id: None if answer is None else tuple(_request_times(result) for result in answer.results)
            for broker_id, answer in responses.items()
        }

    def not_loaded(self) -> Mapping[int, NotLoaded]:
        return self._not_loaded

    def foreign_brokers(self) -> Mapping[int, tuple[int, ...]]:
        return self._foreign_brokers

    def uncleanable(self) -> Mapping[int, tuple[UncleanableLog, ...]]:
        return self._uncleanable

    def budget_uses(self) -> Mapping[int, tuple[BudgetUse, ...]]:
        return self._budget_uses

    def quota_uses(self) -> Mapping[int, tuple[QuotaUse, ...]]:
        return self._quota_uses

    def _ask_one(self, broker_id: int | None, request: Request[AnyResponse]) -> AnyResponse | None:
        """Ask one broker; None: the first that answers. Returns None from a broker that does not know the request."""
        for known_id, host, port in self._addresses():
            if broker_id in (None, known_id):
                return self._ask(known_id, host, port, request)
        raise ClusterUnreachableError(f"Broker {broker_id} is not registered, so it cannot answer.")

    def ask_any(self, request: Request[AnyResponse]) -> AnyResponse | None:
        """Return the first answer of a registered broker, None where it does not serve the request.

        Raises GatewayError, where no broker answers that of the last.
        """
        silence: ClusterUnreachableError | None = None
        for broker_id, host, port in self._addresses():
            try:
                return self._ask(broker_id, host, port, request)
            except ClusterUnreachableError as error:
                silence = error
        raise silence or ClusterUnreachableError("No broker is registered.")

    def _ask(
        self,
        broker_id: int,
        host: str,
        port: int,
        request: Request[AnyResponse],
        membership: ClusterMembership | None = None,
    ) -> AnyResponse | None:
        """Ask a broker; None if it does not know the request."""
        try:
            with self._client.connection(host, port, self._timeout, membership) as connection:
                self._software[broker_id] = _software(connection.served, connection.supported_features)
                return connection.ask(request, membership=membership)
        except ApiNotServed:
            return None
        except LoginRefused as error:
            self._membership.forget()
            raise GatewayError(str(error)) from error
        except BrokerUnreachable as error:
            raise ClusterUnreachableError("The broker did not answer in time.") from error
        except BarnabasError as error:
            raise GatewayError(str(error)) from error

    def ask_each(
        self, request_for: Callable[[int], Request[AnyResponse]], membership: ClusterMembership | None = None
    ) -> dict[int, AnyResponse | None]:
        """Ask each broker; those that do not answer are missing."""
        brokers = {(host, port): broker_id for broker_id, host, port in self._addresses()}
        questions = {address: [request_for(broker_id)] for address, broker_id in brokers.items()}
        answers: dict[int, AnyResponse | None] = {}
        for address, heard in ask_at_once(self._client, questions, self._timeout, membership).items():
            broker_id = brokers[address]
            if heard.served:
                self._software[broker_id] = _software(heard.served, heard.features)
            if heard.error is None or isinstance(heard.error, ApiNotServed):
                answers[broker_id] = next(iter(heard.answers), None)
                continue
            if isinstance(heard.error, LoginRefused):
                self._membership.forget()
            logger.debug("broker %s: %s", broker_id, heard.error)
        return dict(sorted(answers.items()))


def _software(served: Mapping[int, tuple[int, int]], features: Mapping[str, tuple[int, int]]) -> Software:
    """Return the software by the metadata.version that a KRaft broker supports, or guessed from the APIs it serves."""
    fetch = served.get(ApiKey.FETCH, (0, 0))[1]
    speaks = next((name for version, name in sorted(_RELEASES.items(), reverse=True) if version <= fetch), "")
    if METADATA_VERSION in features:
        return Software("Kafka", release_of(features[METADATA_VERSION][1]), len(served))
    name = "Barnabas" if ApiKey.DESCRIBE_REQUESTS in served else "Kafka"
    return Software(name, speaks, len(served))


def _describe_settings(broker_id: int) -> DescribeConfigsRequest:
    resource = DescribeConfigsResource(
        resource_type=_BROKER_RESOURCE, resource_name=str(broker_id), configuration_keys=None
    )
    return DescribeConfigsRequest(resources=[resource], include_synonyms=True, include_documentation=True)


def _alteration(broker_id: int | None, changes: Mapping[str, str | None]) -> IncrementalAlterConfigsRequest:
    configs = [
        AlterableConfig(
            name=name,
            config_operation=ConfigOperation.DELETE if value is None else ConfigOperation.SET,
            value=value,
        )
        for name, value in changes.items()
    ]
    name = "" if broker_id is None else str(broker_id)
    resource = AlterConfigsResource(resource_type=_BROKER_RESOURCE, resource_name=name, configs=configs)
    return IncrementalAlterConfigsRequest(resources=[resource])


def _setting(answer: DescribeConfigsResourceResult) -> BrokerSetting:
    known = BY_NAME.get(answer.name)
    values = {
        _SOURCES[synonym.source]: synonym.value
        for synonym in answer.synonyms
        if synonym.name == answer.name and synonym.source in _SOURCES
    }
    return BrokerSetting(
        name=answer.name,
        value=answer.value,
        source=_SOURCES.get(answer.config_source, "default"),
        default=values.get("default", known.default_text if known else None),
        meaning=known.meaning if known else answer.documentation or "",
        choices=choices_of(known),
        is_read_only=answer.read_only,
        is_sensitive=answer.is_sensitive,
        values_by_source=values,
    )


def _by_topic(places: Collection[tuple[str, int]]) -> list[DescribableLogDirTopic]:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(places):
        by_topic.setdefault(topic, []).append(partition)
    return [DescribableLogDirTopic(topic=topic, partitions=numbers) for topic, numbers in by_topic.items()]


def _log_dir(answer: DescribeLogDirsResult) -> LogDirView:
    return LogDirView(
        path=answer.log_dir,
        error=error_code_of(answer.error_code).meaning if answer.error_code else "",
        total_bytes=_known(answer.total_bytes),
        usable_bytes=_known(answer.usable_bytes),
        is_full=answer.is_full,
        stray_count=max(answer.stray_count, 0),
        stray_bytes=max(answer.stray_bytes, 0),
        replicas=_replicas(answer, is_future=False),
        arriving=_replicas(answer, is_future=True),
    )


def _replicas(answer: DescribeLogDirsResult, *, is_future: bool) -> tuple[tuple[str, int, int], ...]:
    return tuple(
        (topic.name, partition.partition_index, partition.partition_size)
        for topic in answer.topics
        for partition in topic.partitions
        if bool(partition.is_future_key) is is_future
    )


def _request_times(answer: DescribeRequestsResult) -> ApiRequestTimes:
    try:
        name = ApiKey(answer.api_key).name.title().replace("_", "")
    except ValueError:
        name = f"Api{answer.api_key}"
    buckets = tuple((bucket.up_to_us, bucket.count) for bucket in answer.buckets)
    errors = tuple(_error_count(error) for error in answer.errors)
    return ApiRequestTimes(name, answer.count, answer.error_count, answer.max_us, buckets, errors)


def _error_count(error: DescribeRequestsError) -> ErrorCount:
    try:
        code = ErrorCode(error.code)
    except ValueError:
        return ErrorCount(f"error {error.code}", "", error.count)
    return ErrorCount(code.name, code.meaning, error.count)


def _not_loaded(answer: DescribeRequestsResponse) -> NotLoaded:
    return NotLoaded(answer.group_coordinators_not_loaded, answer.transaction_coordinators_not_loaded)


def _uncleanable(answer: DescribeRequestsResponse) -> tuple[UncleanableLog, ...]:
    return tuple(UncleanableLog(item.topic, item.partition, item.reason) for item in answer.uncleanable)


def _budget_use(budget: DescribeRequestsBudget) -> BudgetUse:
    ago = None if budget.refused_ms_ago < 0 else budget.refused_ms_ago
    # A broker of before version 5 lists owners.
    largest = next(iter(budget.owners), None) or DescribeRequestsOwner(
        principal=budget.principal, host=budget.host, held=budget.held_by_client
    )
    host = largest.host.removeprefix("/")
    return BudgetUse(budget.name, budget.size, budget.held, ago, largest.principal, host, largest.held)


def _quota_use(use: DescribeRequestsQuotaUse) -> QuotaUse:
    return QuotaUse(use.key, use.user, use.client_id, use.ip, use.limit, use.rate, use.throttled_ms)


def _known(size: int) -> int | None:
    return None if size < 0 else size
