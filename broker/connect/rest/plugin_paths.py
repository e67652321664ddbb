"""What REST tells of plugins, and the validation of a configuration."""

import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request

from broker.connect.api import ConnectError
from broker.connect.herder.errors import BadRequest, NotFound
from broker.connect.herder.validation import connector_class, key_infos, validate
from broker.connect.plugins import PluginKind, lookup, plugins
from broker.connect.plugins.compatible import own_class
from broker.connect.rest.quoted_paths import quoted_part
from broker.connect.settings import WorkerSettings

#: Method, path, what answers, and its status.
PluginPath = tuple[str, str, Callable[[Request, Any], Any], int]


def plugin_paths(settings: Callable[[], WorkerSettings]) -> list[PluginPath]:
    return [
        ("GET", "/connector-plugins", _plugins, 200),
        ("GET", "/connector-plugins/{plugin}/config", _plugin_config, 200),
        (
            "PUT",
            "/connector-plugins/{plugin}/config/validate",
            lambda request, body: _validate(request, body, settings()),
            200,
        ),
    ]


def _plugins(request: Request, _body: Any) -> Any:
    only = request.query_params.get("connectorsOnly", "true").lower() != "false"
    return [
        {"class": plugin.name, "type": str(kind)} | ({"version": cls.VERSION} if hasattr(cls, "VERSION") else {})
        for plugin, cls, kind in plugins()
        if not only or kind in (PluginKind.SINK, PluginKind.SOURCE)
    ]


def _plugin_config(request: Request, _body: Any) -> Any:
    name = quoted_part(request, "plugin")
    for kind in PluginKind:
        try:
            return key_infos(lookup(own_class(name), kind))
        except ConnectError:
            continue
    raise NotFound(f"Unknown plugin {name}.")


def _validate(request: Request, body: Any, settings: WorkerSettings) -> Any:
    plugin = quoted_part(request, "plugin")
    if not isinstance(body, dict):
        raise BadRequest("A map of keys is needed")
    named = str(body.get("connector.class") or "")
    if named and not named.removesuffix("Connector").endswith(plugin.rsplit(".", 1)[-1].removesuffix("Connector")):
        raise BadRequest(f"Included connector type {named} does not match request type {plugin}")
    connector_class(body)
    texts = texts_of({key: value for key, value in body.items() if value is not None})
    return validate(dict.fromkeys(body) | texts, settings)


def texts_of(config: Any) -> dict[str, str]:
    if not isinstance(config, dict):
        raise BadRequest("A map of keys is needed")
    missing = [key for key, value in config.items() if value is None]
    if missing:
        raise BadRequest(f"{missing[0]}: Null value can not be supplied as the configuration value.")
    return {str(key): value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
