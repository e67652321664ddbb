"""What `transforms` and `predicates` name by aliases, declared and checked as keys of their connector: Kafka's
ConnectorConfig enriches its definition the same way."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from broker.common.java.numbers import trim
from broker.common.security_limits import CONNECTOR_ALIASES_MAX
from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, ConfigValue, ConnectError, Importance
from broker.connect.plugins import PluginKind, lookup

Props = Mapping[str, Any]
_H, _M = Importance.HIGH, Importance.MEDIUM


def aliased(props: Props) -> ConfigDef:
    """The keys of every alias. An unknown class has none but its type."""
    return ConfigDef(*_transform_keys(props), *_keys_of(props, "predicates", PluginKind.PREDICATE))


def check_aliased(props: Props, values: Mapping[str, ConfigValue]) -> None:
    """Adds what no key's own declaration says: classes that are none, predicates that are not named, and what a plugin
    refuses of keys that are right one by one."""
    for what, kind in (("transforms", PluginKind.TRANSFORMATION), ("predicates", PluginKind.PREDICATE)):
        aliases = _all_aliases(props, what)
        if len(aliases) > CONNECTOR_ALIASES_MAX:
            values[what].errors.append(f"{what} names more than {CONNECTOR_ALIASES_MAX} aliases: use fewer.")
            continue
        if len(set(aliases)) < len(aliases):
            values[what].errors.append(f"Duplicate alias provided in {what}.")
        for alias in dict.fromkeys(aliases):
            _check_plugin(props, values, f"{what}.{alias}.", kind)
    for alias in _aliases(props, "transforms"):
        wanted = trim(props.get(f"transforms.{alias}.predicate") or "")
        if wanted and wanted not in _aliases(props, "predicates"):
            values[f"transforms.{alias}.predicate"].errors.append(
                f"Invalid value {wanted} for configuration transforms.{alias}.predicate: none of the predicates is so "
                "called"
            )


def _transform_keys(props: Props) -> Iterator[ConfigKey]:
    yield from _keys_of(props, "transforms", PluginKind.TRANSFORMATION)
    for alias in _aliases(props, "transforms"):
        group = f"Transforms: {alias}"
        prefix = f"transforms.{alias}."
        yield ConfigKey(
            f"{prefix}predicate", ConfigType.STRING, "", _M, "The alias of a predicate: for which records.", group=group
        )
        yield ConfigKey(
            f"{prefix}negate", ConfigType.BOOLEAN, False, _M, "Whether it is for the others instead.", group=group
        )


def _keys_of(props: Props, what: str, kind: PluginKind) -> Iterator[ConfigKey]:
    for alias in _aliases(props, what):
        prefix, group = f"{what}.{alias}.", f"{what.capitalize()}: {alias}"
        yield ConfigKey(f"{prefix}type", ConfigType.CLASS, importance=_H, documentation="Its class.", group=group)
        for key in _definition(props, prefix, kind).keys.values():
            yield replace(key, name=prefix + key.name, group=group)


def _definition(props: Props, prefix: str, kind: PluginKind) -> ConfigDef:
    try:
        definition: ConfigDef = lookup(str(props.get(f"{prefix}type")), kind).CONFIG  # type: ignore[attr-defined]  # each plugin of a kind has one
    except ConnectError:
        return ConfigDef()
    return definition


def _check_plugin(props: Props, values: Mapping[str, ConfigValue], prefix: str, kind: PluginKind) -> None:
    named = values[f"{prefix}type"]
    if named.errors:
        return
    try:
        plugin = lookup(str(props[f"{prefix}type"]), kind)
    except ConnectError as error:
        named.errors.append(f"Invalid value {named.value} for configuration {named.name}: {error}")
        return
    if any(item.errors for name, item in values.items() if name.startswith(prefix)):
        return
    own = {name.removeprefix(prefix): text for name, text in props.items() if name.startswith(prefix)}
    try:
        plugin().configure({name: text for name, text in own.items() if name not in ("type", "predicate", "negate")})
    except ConfigError as error:
        values.get(prefix + error.name, named).errors.append(str(error))


def _aliases(props: Props, what: str) -> list[str]:
    """None of too many: each has keys of its own, which are declared and checked one by one."""
    aliases = _all_aliases(props, what)
    return aliases if len(aliases) <= CONNECTOR_ALIASES_MAX else []


def _all_aliases(props: Props, what: str) -> list[str]:
    return [alias.strip() for alias in str(props.get(what) or "").split(",") if alias.strip()]
