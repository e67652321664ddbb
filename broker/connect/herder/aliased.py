"""What `transforms` and `predicates` name by aliases, declared and checked as keys of their connector: Kafka's
ConnectorConfig enriches its definition the same way."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from broker.common.java.numbers import trim
from broker.common.security_limits import CONNECTOR_ALIASES_MAX
from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, ConfigValue, ConnectError, Importance
from broker.connect.api.config import Width
from broker.connect.herder.common_keys import Choices, class_error, class_names, class_or_none, version_error, versioned
from broker.connect.plugins import PluginKind, lookup

Props = Mapping[str, Any]
_H, _M = Importance.HIGH, Importance.MEDIUM
_NOT_ITS_OWN = ("type", "plugin.version", "predicate", "negate")


def aliased(props: Props) -> ConfigDef:
    """Return the keys of every alias. An unknown class has none but its type."""
    return ConfigDef(
        *_keys_of(props, "transforms", PluginKind.TRANSFORMATION), *_keys_of(props, "predicates", PluginKind.PREDICATE)
    )


def check_aliased(props: Props, values: Mapping[str, ConfigValue]) -> None:
    """Add errors beyond single keys: unknown classes, predicates without a definition, and keys that a plugin refuses
    in combination.
    """
    for what, kind in (("transforms", PluginKind.TRANSFORMATION), ("predicates", PluginKind.PREDICATE)):
        aliases = _all_aliases(props, what)
        if len(aliases) > CONNECTOR_ALIASES_MAX:
            values[what].errors.append(f"{what} names more than {CONNECTOR_ALIASES_MAX} aliases: use fewer.")
            continue
        if len(set(aliases)) < len(aliases):
            listed = ", ".join(aliases)
            values[what].errors.append(f"Invalid value [{listed}] for configuration {what}: Duplicate alias provided.")
        for alias in dict.fromkeys(aliases):
            _check_plugin(props, values, f"{what}.{alias}.", kind)
    for alias in dict.fromkeys(_aliases(props, "transforms")):
        wanted = trim(props.get(f"transforms.{alias}.predicate") or "")
        condition = values.get(f"transforms.{alias}.predicate")
        if condition and wanted and wanted not in _aliases(props, "predicates"):
            condition.errors.append(
                f"Invalid value {wanted} for configuration transforms.{alias}.predicate: none of the predicates is so "
                "called"
            )


#: Which records a transform is for.
_CONDITION = (
    ConfigKey("predicate", ConfigType.STRING, None, _M, "The alias of a predicate: for which records."),
    ConfigKey("negate", ConfigType.BOOLEAN, False, _M, "Whether it is for the others instead."),
)


def _keys_of(props: Props, what: str, kind: PluginKind) -> Iterator[ConfigKey]:
    """Yield an alias's class and its version, and then its other keys by name."""
    title = str(kind).capitalize()
    for alias in _aliases(props, what):
        prefix, group = f"{what}.{alias}.", f"{what.capitalize()}: {alias}"
        plugin = class_or_none(props.get(f"{prefix}type"), kind)
        yield ConfigKey(
            f"{prefix}type", ConfigType.CLASS, importance=_H, documentation="Its class.", group=group, order=0,
            width=Width.LONG, display_name=f"{title} type for {alias}", recommender=Choices(class_names(kind)),
        )  # fmt: skip
        version = ConfigKey(
            f"{prefix}plugin.version", ConfigType.STRING, None, _H, "The version of it that must be there.",
            group=group, order=1, width=Width.LONG, display_name=f"{title} version for {alias}",
        )  # fmt: skip
        if plugin is None:
            yield version
            continue
        yield versioned(version, plugin)
        definition: ConfigDef = plugin.CONFIG  # type: ignore[attr-defined]  # each plugin of a kind has one
        keys = [*definition.keys.values(), *(_CONDITION if what == "transforms" else ())]
        for order, key in enumerate(sorted(keys, key=_precedence), 2):
            yield replace(key, name=prefix + key.name, group=group, order=order, display_name=key.name)


def _precedence(key: ConfigKey) -> tuple[bool, int, str]:
    """Return the sort order: required keys first, then important ones, then by name: so Kafka orders them."""
    return not key.is_required, list(Importance).index(key.importance), key.name


def _check_plugin(props: Props, values: Mapping[str, ConfigValue], prefix: str, kind: PluginKind) -> None:
    named = values[f"{prefix}type"]
    if named.errors:
        return
    try:
        plugin = lookup(str(props[f"{prefix}type"]), kind)
    except ConnectError as error:
        named.errors.append(class_error(named, error, kind))
        named.value = None
        return
    if reason := version_error(plugin, named.value, props.get(f"{prefix}plugin.version")):
        named.errors.append(reason)
        values[f"{prefix}plugin.version"].errors.append(reason)
    if any(item.errors for name, item in values.items() if name.startswith(prefix)):
        return
    own = {name.removeprefix(prefix): text for name, text in props.items() if name.startswith(prefix)}
    try:
        plugin().configure({name: text for name, text in own.items() if name not in _NOT_ITS_OWN})
    except ConfigError as error:
        values.get(prefix + error.name, named).errors.append(str(error))


def _aliases(props: Props, what: str) -> list[str]:
    """Return the aliases, none if there are too many: each has keys that are declared and validated one by one."""
    aliases = _all_aliases(props, what)
    return aliases if len(aliases) <= CONNECTOR_ALIASES_MAX else []


def _all_aliases(props: Props, what: str) -> list[str]:
    return [alias.strip() for alias in str(props.get(what) or "").split(",") if alias.strip()]
