"""Connectors whose tasks are started with the connector's own configuration, where nothing in it contradicts itself."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigValue,
    ConnectorContext,
    ConnectPartition,
    SinkConnector,
    SourceConnector,
)
from broker.connect.api.plugin import Props


class _OwnProps:
    CONFIG: ClassVar[ConfigDef]

    def contradictions(self, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        """Return each key that does not go with the others, and why."""
        return ()

    def validate(self, props: Props) -> list[ConfigValue]:
        values = self.CONFIG.validate(props)
        by_name = {value.name: value for value in values}
        for name, reason in self.contradictions({value.name: value.value for value in values}):
            by_name[name].errors.append(reason)
        return values

    def start(self, props: Props, context: ConnectorContext) -> None:
        for name, reason in self.contradictions(self.CONFIG.parse(props)):
            raise ConfigError(name, reason)
        self._props = dict(props)


class OneTaskSource(_OwnProps, SourceConnector):
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self._props]


class GroupSink(_OwnProps, SinkConnector):
    """A sink whose tasks share the partitions as members of a consumer group, which alone knows the offsets."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self._props for _ in range(max_tasks)]

    def alter_offsets(self, props: Props, offsets: Mapping[ConnectPartition, int | None]) -> bool:
        return True
