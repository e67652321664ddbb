"""SetSchemaMetadata: another name and version of a schema."""

import dataclasses
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConnectRecord,
    DataError,
    Importance,
    Schema,
    Struct,
)
from broker.connect.api.plugin import Props
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform


class SetSchemaMetadataValue(SideTransform):
    CONFIG = ConfigDef(
        ConfigKey("schema.name", default=None, importance=Importance.HIGH, documentation="Schema name to set."),
        ConfigKey(
            "schema.version", ConfigType.INT, None, importance=Importance.HIGH, documentation="Schema version to set."
        ),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        super().configure(props)
        name_and_version = {"name": self.values["schema.name"], "version": self.values["schema.version"]}
        changes: dict[str, Any] = {name: item for name, item in name_and_version.items() if item is not None}
        if not changes:
            raise ConfigError("schema.name", "Neither schema name nor version configured")
        self._named = Remembered(lambda schema: dataclasses.replace(schema, **changes))

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            if value is None:
                return None, None
            raise DataError("Schema required for [updating schema metadata]")
        named = self._named(schema)
        return named, Struct(named, self.members(schema, value, "metadata")) if isinstance(value, Struct) else value


class SetSchemaMetadataKey(SetSchemaMetadataValue):
    SIDE = "key"
