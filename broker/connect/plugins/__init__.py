"""Which plugins there are: a table of the built-in ones, and entry points of the group `barnabas.connect`.

A name is the Java class's whole name, its last part, that without the kind at its end (`FileStreamSource`), or the name
of an entry point. Nothing is imported before it is looked up.
"""

from broker.connect.plugins.catalog import (
    LoadError,
    Plugin,
    PluginKind,
    WrongKindError,
    lookup,
    plugins,
    task_name,
)

__all__ = ["LoadError", "Plugin", "PluginKind", "WrongKindError", "lookup", "plugins", "task_name"]
