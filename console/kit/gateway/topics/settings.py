"""Settings of a topic, by the admin client."""

from collections.abc import Callable, Iterable, Mapping

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ConfigSource

from broker.config.topic import BY_NAME
from console.kit.gateway.connection.admin_results import wait_for
from console.kit.gateway.retention.interface import SettingView
from console.kit.gateway.topics.setting_rules import choices_of

#: By number: `source` is declared as a ConfigSource, but what is described has its number.
_SOURCES: dict[object, str] = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG.value: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG.value: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value: "cluster",
    ConfigSource.STATIC_BROKER_CONFIG.value: "file",
}


def setting_view(name: str, value: str | None, source: str) -> SettingView:
    known = BY_NAME.get(name)
    meaning = known.meaning if known else ""
    return SettingView(name, value, source, known.default_text if known else None, meaning, choices_of(known))


def own_settings(entries: Iterable[ConfigEntry]) -> tuple[tuple[str, str], ...]:
    """(name, value) of those that are the topic's own, sorted; a value that is a secret is not told."""
    own = (each for each in entries if _SOURCES.get(each.source) == "topic")
    return tuple(sorted((each.name, "(not told)" if each.value is None else each.value) for each in own))


class TopicAdministration:
    """Raises GatewayError."""

    def __init__(self, admin: Callable[[], AdminClient], timeout_seconds: float):
        self._admin = admin
        self._timeout = timeout_seconds

    def settings(self, topic: str) -> tuple[SettingView, ...]:
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
        (future,) = self._admin().describe_configs([resource], request_timeout=self._timeout).values()
        entries = wait_for(future, self._timeout)
        return tuple(
            setting_view(entry.name, entry.value, _SOURCES.get(entry.source, "default"))
            for _, entry in sorted(entries.items())
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
