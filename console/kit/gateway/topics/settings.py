"""Settings of a topic: changed by the admin client, read by our own, which is told defaults and documentation too."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
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
#: Types of DescribeConfigs.
_UNKNOWN_TYPE, _BOOLEAN_TYPE, _STRING_TYPE = 0, 1, 2
#: A broker's key in another unit than the topic's, which is in ms: log.retention.hours for retention.ms.
_UNITS_MS = {"hours": 3_600_000, "minutes": 60_000}
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>")


class AskAny(Protocol):
    """Any broker's answer; None where none serves the request. Raises GatewayError."""

    def __call__(self, request: Request[AnyResponse]) -> AnyResponse | None: ...


def setting_view(name: str, value: str | None, source: str) -> SettingView:
    """Return the setting with our own description; Kafka's default applies where the topic has none."""
    known = BY_NAME.get(name)
    default = known.default_text if known else None
    return SettingView(name, value, source, default, known.meaning if known else "", choices_of(known), default)


def described_setting(
    entry: DescribeConfigsResourceResult, defaults: Mapping[str, str] = MappingProxyType({})
) -> SettingView:
    """Return the setting with the broker's values, default and our own description. Our table has the words of the keys
    that it knows.

    `defaults`: those that this cluster told of other topics. Our table's default counts where the cluster told none:
    of a key without a broker's key Kafka does not tell it while the topic sets it.
    """
    known = setting_view(entry.name, entry.value, _SOURCES.get(entry.config_source, "default"))
    others = [synonym for synonym in entry.synonyms if _SOURCES.get(synonym.source) != "topic"]
    values = [_in_unit_of(entry.name, other.name, other.value) for other in others]
    default = defaults.get(entry.name, known.default)
    if known.source == "default":
        default = entry.value
    elif others and others[-1].source not in _SOURCES:
        default = values[-1]
    return replace(
        known,
        default=default,
        choices=_choices_of(entry, known.choices),
        inherited=values[0] if values else default,
        meaning=known.meaning or _TAG.sub("", entry.documentation or ""),
    )


def _choices_of(entry: DescribeConfigsResourceResult, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return every value of a boolean; our table's values of a key count where the broker does not tell its type."""
    if entry.config_type == _BOOLEAN_TYPE:
        return ("true", "false")
    return known if entry.config_type in (_UNKNOWN_TYPE, _STRING_TYPE) else ()


def _in_unit_of(name: str, synonym: str, value: str | None) -> str | None:
    factor = _UNITS_MS.get(synonym.rpartition(".")[2], 1) if name.endswith(".ms") else 1
    return str(int(value) * factor) if factor > 1 and value and value.isdecimal() else value


def own_settings(entries: Iterable[ConfigEntry]) -> tuple[tuple[str, str], ...]:
    """Return (name, value) of the topic's own settings, sorted; a secret's value is left out."""
    own = (entry for entry in entries if _SOURCES.get(entry.source) == "topic")
    return tuple(sorted((entry.name, "(not told)" if entry.value is None else entry.value) for entry in own))


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
        entries = sorted(result.configs, key=lambda config: config.name)
        settings = tuple(described_setting(entry, self._defaults) for entry in entries)
        self._defaults.update(
            (setting.name, setting.value) for setting in settings if setting.source == "default" and setting.value
        )
        return settings

    def change(self, topic: str, changes: Mapping[str, str | None], *, validate_only: bool = False) -> None:
        entries = [
            ConfigEntry(
                name,
                value,
                incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
            )
            for name, value in changes.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        altered = self._admin().incremental_alter_configs(
            [resource], request_timeout=self._timeout, validate_only=validate_only
        )
        wait_for(altered[resource], self._timeout)
