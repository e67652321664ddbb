"""The keys that every source or sink has, with what the worker and its plugins say of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from broker.common.security_limits import CONNECTOR_TASKS_MAX
from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    ConfigType,
    ConfigValue,
    ConnectError,
    Importance,
    SinkConnector,
)
from broker.connect.api.config import OneOf, between
from broker.connect.herder.presentation import presented
from broker.connect.names import connector_name
from broker.connect.plugins import LoadError, PluginKind, WrongKindError, lookup, plugins
from broker.connect.settings import WorkerSettings
from broker.connect.tasks.boundaries import KEYS as BOUNDARY_KEYS
from broker.connect.tasks.dead_letters import KEYS as DEAD_LETTER_KEYS
from broker.connect.tasks.sink_audit import KEYS as AUDIT_KEYS
from broker.connect.tasks.tolerance import ERROR_KEYS

_H, _M, _L = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_VERSION = ".plugin.version"
_CONVERTERS = {
    "key.converter": PluginKind.CONVERTER,
    "value.converter": PluginKind.CONVERTER,
    "header.converter": PluginKind.HEADER_CONVERTER,
}
COMMON = ConfigDef(
    ConfigKey(
        "name", ConfigType.STRING, importance=_H, documentation="The connector's name.", validator=connector_name
    ),
    ConfigKey("connector.class", ConfigType.STRING, importance=_H, documentation="Class, or its short name."),
    ConfigKey("connector.plugin.version", ConfigType.STRING, None, _M, "The version of the class that must be there."),
    ConfigKey("tasks.max", ConfigType.INT, 1, _H, "The most tasks it may have.", between(1, CONNECTOR_TASKS_MAX)),
    ConfigKey("tasks.max.enforce", ConfigType.BOOLEAN, True, _L, "Whether more than that are a failure."),
    *(
        key
        for name in _CONVERTERS
        for key in (
            ConfigKey(name, ConfigType.CLASS, None, _L, "Instead of the worker's."),
            ConfigKey(name + _VERSION, ConfigType.STRING, None, _L, "The version of it that must be there."),
        )
    ),
    ConfigKey("transforms", ConfigType.LIST, (), _L, "Aliases of the transforms, in order."),
    ConfigKey("predicates", ConfigType.LIST, (), _L, "Aliases of the predicates."),
    ConfigKey(
        "config.action.reload",
        ConfigType.STRING,
        "restart",
        _L,
        "Kafka's word for what a config provider's change does; here nothing happens before a restart.",
        OneOf("none", "restart", is_exact=True),
    ),
)
SINK = ConfigDef(
    ConfigKey("topics", ConfigType.LIST, (), _H, "Topics to read, comma separated."),
    ConfigKey("topics.regex", ConfigType.STRING, "", _H, "Or a pattern of their whole names."),
)
_GROUPS = ConfigDef(ConfigKey("topic.creation.groups", ConfigType.LIST, (), _L, "Names of rules for new topics."))
_OF_SINK = presented(COMMON + ERROR_KEYS + SINK + DEAD_LETTER_KEYS + AUDIT_KEYS)
_OF_SOURCE = presented(COMMON + ERROR_KEYS + _GROUPS + BOUNDARY_KEYS)


@dataclass(frozen=True)
class Choices:
    """What a form offers for a key."""

    values: tuple[str, ...]
    is_visible: bool = True

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return self.values

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return self.is_visible


def connector_keys(cls: type) -> ConfigDef:
    """Return the keys of a source or sink before it is known which worker runs it, its own behind the common ones."""
    keys = dict((_OF_SINK if issubclass(cls, SinkConnector) else _OF_SOURCE).keys)
    keys["connector.plugin.version"] = versioned(keys["connector.plugin.version"], cls)
    own: ConfigDef = cls.CONFIG  # type: ignore[attr-defined]  # each connector has one
    return ConfigDef(*keys.values()) + own


def common_keys(cls: type, props: Mapping[str, Any], settings: WorkerSettings) -> ConfigDef:
    """Return the keys of a source or sink, whose defaults are the worker's plugins and their versions."""
    keys = dict((_OF_SINK if issubclass(cls, SinkConnector) else _OF_SOURCE).keys)
    keys["connector.plugin.version"] = versioned(keys["connector.plugin.version"], cls)
    for name, kind in _CONVERTERS.items():
        of_worker = class_name(getattr(settings, name.replace(".", "_")), kind)
        keys[name] = replace(keys[name], default=of_worker, recommender=Choices(class_names(kind)))
        version = name + _VERSION
        if not _is_of_another_kind(props.get(name), kind):
            keys[version] = versioned(keys[version], class_or_none(props.get(name) or of_worker, kind))
    return ConfigDef(*keys.values())


def converter_keys(props: Mapping[str, Any]) -> ConfigDef:
    """Return the keys of the converters that a connector names, below those converters' names."""
    return ConfigDef(
        *(
            replace(key, name=f"{name}.{key.name}")
            for name, kind in _CONVERTERS.items()
            if (cls := class_or_none(props.get(name), kind)) is not None
            for key in cls.CONFIG.keys.values()  # type: ignore[attr-defined]  # each converter has one
        )
    )


def version_errors(cls: type, props: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each key at fault where a version is wanted that is not here (KIP-891)."""
    wanted: dict[str, tuple[str, type | None]] = {"connector.plugin.version": ("connector.class", cls)}
    for name, kind in _CONVERTERS.items():
        wanted[name + _VERSION] = (name, class_or_none(props.get(name), kind))
    for key, (named, plugin) in wanted.items():
        if plugin is not None and (error := version_error(plugin, str(props[named]), props.get(key))):
            yield named, error
            yield key, error


def version_error(plugin: type, name: str, wanted: str | None) -> str | None:
    """Return what is wrong with a version that is wanted, in Kafka's words; None if it is the one that is here."""
    version = version_of(plugin)
    if wanted is None or wanted.strip() in (version, f"[{version}]"):
        return None
    version_range = wanted.strip()
    limits = version_range if version_range[:1] in ("[", "(") else f"[{version_range},{version_range}]"
    return f"Plugin {name} not found that matches the version range {limits}, available versions: [{version}]"


_INTERFACES = {
    PluginKind.CONVERTER: "Converter",
    PluginKind.HEADER_CONVERTER: "HeaderConverter",
    PluginKind.TRANSFORMATION: "Transformation",
    PluginKind.PREDICATE: "Predicate",
}


def class_error(value: ConfigValue, error: ConnectError, kind: PluginKind) -> str:
    """Return what is wrong with a class that is not here, in Kafka's words."""
    if isinstance(error, WrongKindError):
        return f"Class class {value.value} does not implement the {_INTERFACES[kind]} interface"
    reason = str(error) if isinstance(error, LoadError) else f"Class {value.value} could not be found."
    return f"Invalid value {value.value} for configuration {value.name}: {reason}"


def version_of(plugin: type) -> str:
    return str(getattr(plugin, "VERSION", "1"))


def versioned(key: ConfigKey, plugin: type | None) -> ConfigKey:
    """Return the key of a plugin's version, hidden where the plugin is not here."""
    if plugin is None:
        return replace(key, default=None, recommender=Choices((), is_visible=False))
    return replace(key, default=version_of(plugin), recommender=Choices((version_of(plugin),)))


def class_names(kind: PluginKind) -> tuple[str, ...]:
    """Return the names of the plugins of a kind."""
    return tuple(plugin.name for plugin, _, its_kind in plugins() if its_kind is kind)


def class_name(name: str, kind: PluginKind) -> str:
    """Return the whole name of a plugin that may be named by its simple name."""
    cls = class_or_none(name, kind)
    if cls is None:
        return name
    return next((p.name for p, its_class, its_kind in plugins() if its_kind is kind and its_class is cls), name)


def _is_of_another_kind(name: Any, kind: PluginKind) -> bool:
    try:
        lookup(str(name), kind)
    except WrongKindError:
        return True
    except ConnectError:
        pass
    return False


def class_or_none(name: Any, kind: PluginKind) -> type | None:
    if not name:
        return None
    try:
        return lookup(str(name), kind)
    except ConnectError:
        return None
