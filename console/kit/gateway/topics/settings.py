"""Settings of a topic: changed by the admin client, read by our own, which is told defaults and documentation too."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource

from broker.common.errors import ErrorCode
from broker.config.topic import BY_NAME
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
)
from broker.protocol.schema import Request
from console.kit.gateway.connection.admin_results import wait_for
from console.kit.gateway.errors import refusal
from console.kit.gateway.retention.interface import SettingView
from console.kit.gateway.topics.setting_rules import choices_of

#: By number: `source` is declared as a ConfigSource, but what is described has its number.
_SOURCES: dict[object, str] = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG.value: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value: "cluster",
    ConfigSource.STATIC_BROKER_CONFIG.value: "file",
}
_TOPIC_RESOURCE = 2
#: A broker's key in another unit than the topic's, which is in ms: log.retention.hours for retention.ms.
_UNITS_MS = {"hours": 3_600_000, "minutes": 60_000}
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>")


class AskAny(Protocol):
    """Any broker's answer; None where none serves the request. Raises GatewayError."""

    def __call__(self, request: Request[AnyResponse]) -> AnyResponse | None: ...


def setting_view(name: str, value: str | None, source: str) -> SettingView:
    """As our own table knows it; where the topic sets nothing Kafka's default counts."""
    known = BY_NAME.get(name)
    default = known.default_text if known else None
    return SettingView(name, value, source, default, known.meaning if known else "", choices_of(known), default)


def described_setting(entry: DescribeConfigsResourceResult) -> SettingView:
    """As a broker describes it: its default, and its documentation where our table has no such key."""
    known = setting_view(entry.name, entry.value, _SOURCES.get(entry.config_source, "default"))
    others = [each for each in entry.synonyms if _SOURCES.get(each.source) != "topic"]
    values = [_in_unit_of(entry.name, each.name, each.value) for each in others]
    default = known.default
    if known.source == "default":
        default = entry.value
    elif others and others[-1].source not in _SOURCES:
        default = values[-1]
    return replace(
        known,
        default=default,
        inherited=values[0] if values else default,
        meaning=known.meaning or _TAG.sub("", entry.documentation or ""),
    )


def _in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    factor = _UNITS_MS.get(synonym.rpartition(".")[2], 1) if name.endswith(".ms") else 1
    return str(int(value) * factor) if factor > 1 and value and value.isdecimal() else value


def own_settings(entries: Iterable[ConfigEntry]) -> tuple[tuple[str, str], ...]:
    """(name, value) of those that are the topic's own, sorted; a value that is a secret is not told."""
    own = (each for each in entries if _SOURCES.get(each.source) == "topic")
    return tuple(sorted((each.name, "(not told)" if each.value is None else each.value) for each in own))


class TopicAdministration:
    """Raises GatewayError."""

    def __init__(self, admin: Callable[[], AdminClient], ask_any: AskAny, timeout_seconds: float):
        self._admin = admin
        self._ask_any = ask_any
        #: By key. Of one without a broker's key Kafka tells the default only where the topic does not set it.
        self._defaults: dict[str, str] = {}
        self._timeout = timeout_seconds

    def settings(self, topic: str) -> tuple[SettingView, ...]:
        resource = DescribeConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=topic, configuration_keys=None)
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=True, include_documentation=True)
        answer = self._ask_any(request)
        if answer is None:
            raise refusal(ErrorCode.UNSUPPORTED_VERSION, "These brokers do not describe settings of topics.")
        (result,) = answer.results
        if result.error_code:
            raise refusal(result.error_code, result.error_message or "")
        settings = [described_setting(each) for each in sorted(result.configs, key=lambda each: each.name)]
        self._defaults.update((each.name, each.default) for each in settings if each.default is not None)
        return tuple(
            replace(each, default=self._defaults.get(each.name)) if each.default is None else each for each in settings
        )

    def change(self, topic: str, changes: Mapping[str, str | None]) -> None:
        entries = [
            ConfigEntry(
                name,
                value,
                incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
            )
            for name, value in changes.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        (future,) = self._admin().incremental_alter_configs([resource], request_timeout=self._timeout).values()
        wait_for(future, self._timeout)
