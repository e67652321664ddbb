"""Plugins by name and kind."""

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import entry_points

from broker.common.java.numbers import trim
from broker.connect.api import (
    ConnectError,
    Converter,
    HeaderConverter,
    Predicate,
    SinkConnector,
    SourceConnector,
    Transformation,
)
from broker.connect.plugins.built_in import BUILT_IN
from broker.connect.traces import sentence_of

GROUP = "barnabas.connect"
_OF_KAFKA = "org.apache.kafka.connect."


class PluginKind(StrEnum):
    """The words of `GET /connector-plugins`."""

    SINK = "sink"
    SOURCE = "source"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"


_BASES: dict[PluginKind, type] = {
    PluginKind.SINK: SinkConnector,
    PluginKind.SOURCE: SourceConnector,
    PluginKind.TRANSFORMATION: Transformation,
    PluginKind.PREDICATE: Predicate,
    PluginKind.CONVERTER: Converter,
    PluginKind.HEADER_CONVERTER: HeaderConverter,
}


class WrongKindError(ConnectError):
    """The plugin is there, and is of another kind."""


class LoadError(ConnectError):
    """The plugin is there, and its code is not to be had."""


@dataclass(frozen=True)
class Plugin:
    """`name` is what REST calls its class; `location` where its code is, `module:Class`."""

    name: str
    location: str

    def load(self) -> type:
        """Raises LoadError."""
        module, _, attribute = self.location.partition(":")
        try:
            loaded = getattr(importlib.import_module(module), attribute)
        except (Exception, SystemExit) as error:  # a plugin is somebody else's code: whatever its import raises
            raise LoadError(f"Failed to load plugin {self.name} from {self.location}: {sentence_of(error)}") from error
        if not isinstance(loaded, type):
            raise LoadError(f"Plugin {self.name} at {self.location} is not a class")
        return loaded


def lookup(name: str, kind: PluginKind | str) -> type:
    """Return the class of a plugin, blanks around its name aside.

    Raises ConnectError naming what was looked for: none, not of that kind, or two.
    """
    kind, name = PluginKind(kind), trim(name)
    matches = {plugin.location: plugin for plugin in _candidates() if name in _names(plugin)}
    if not matches:
        raise ConnectError(f"Failed to find any class that implements {kind} and which name matches {name}")
    fitting = [match for match in (plugin.load() for plugin in matches.values()) if issubclass(match, _BASES[kind])]
    if not fitting:
        raise WrongKindError(f"{name} is not a {kind}")
    if len(fitting) > 1:
        raise ConnectError(f"More than one {kind} is called {name}; give the whole name of its class")
    return fitting[0]


def task_name(connector: type) -> str:
    """Return the `task.class` of a connector: Kafka's name where Kafka has the class, too."""
    for name, location in BUILT_IN.items():
        if name.startswith(_OF_KAFKA) and location == f"{connector.__module__}:{connector.__qualname__}":
            return f"{name.removesuffix('Connector')}Task"
    task = connector.task_class  # type: ignore[attr-defined]  # each connector has one
    return f"{task.__module__}.{task.__qualname__}"


def plugins() -> list[tuple[Plugin, type, PluginKind]]:
    """Return every plugin that can be imported, in REST's order: sinks first. `lookup` reports why one is left out."""
    loaded: list[tuple[Plugin, type, PluginKind]] = []
    for plugin in _candidates():
        try:
            cls = plugin.load()
        except ConnectError:
            continue
        loaded += [(plugin, cls, kind) for kind, base in _BASES.items() if issubclass(cls, base)]
    order = list(PluginKind)
    return sorted(loaded, key=lambda pair: (order.index(pair[2]), pair[0].name))


def _candidates() -> Iterator[Plugin]:
    for name, location in BUILT_IN.items():
        yield Plugin(name, location)
    yield from _entry_points()


@cache
def _entry_points() -> tuple[Plugin, ...]:
    return tuple(Plugin(point.name, point.value) for point in entry_points(group=GROUP))


def _names(plugin: Plugin) -> set[str]:
    simple = plugin.name.rsplit(".", 1)[-1]
    class_name = plugin.location.partition(":")[2]
    names = {plugin.name, simple, class_name, plugin.location.replace(":", ".")}
    return names | {name.removesuffix("Connector") for name in (plugin.name, simple, class_name)}
