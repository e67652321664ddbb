"""ReplaceField: fields left out, and fields with another name."""

from typing import Any

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectRecord, Field, Schema, Struct
from broker.connect.api.plugin import Props
from broker.connect.transforms.sides import REPLACE_NULL, Remembered, SideTransform, pairs_of, with_fields


def _is_renames(name: str, value: list[str]) -> None:
    pairs_of(name, value)


class ReplaceFieldValue(SideTransform):
    CONFIG = ConfigDef(
        ConfigKey("exclude", ConfigType.LIST, [], documentation="Fields to exclude; takes precedence over include."),
        ConfigKey("include", ConfigType.LIST, [], documentation="Fields to include. If given, only these are used."),
        ConfigKey("renames", ConfigType.LIST, [], documentation="Field rename mappings, a:b.", validator=_is_renames),
        REPLACE_NULL,
    )

    def configure(self, props: Props) -> None:
        old = {new: props[name] for name, new in (("blacklist", "exclude"), ("whitelist", "include")) if name in props}
        super().configure({**old, **props})
        self._excluded, self._included = frozenset(self.values["exclude"]), frozenset(self.values["include"])
        self._renames = pairs_of("renames", self.values["renames"])
        self._replaced = Remembered(
            lambda schema: with_fields(
                schema,
                [Field(self._name(field.name), field.schema) for field in schema.fields if self._keeps(field.name)],
            )
        )

    def _keeps(self, name: str) -> bool:
        return name not in self._excluded and (not self._included or name in self._included)

    def _name(self, name: str) -> str:
        return self._renames.get(name, name)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, None
        members = self.members(schema, value, "field replacement")
        kept = {self._name(name): item for name, item in members.items() if self._keeps(name)}
        if schema is None:
            return None, kept
        replaced = self._replaced(schema)
        return replaced, Struct(replaced, kept)


class ReplaceFieldKey(ReplaceFieldValue):
    SIDE = "key"
