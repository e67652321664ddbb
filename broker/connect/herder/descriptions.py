"""What REST tells of a connector: its configuration and tasks, and what they are doing."""

from collections.abc import Mapping
from typing import Any

from broker.common.logs import logger
from broker.connect.api import SinkConnector
from broker.connect.herder.errors import NotFound
from broker.connect.herder.validation import connector_class
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.states import States

_log = logger("broker.connect")


def connector_info(name: str, config: Mapping[str, str], configurations: Configurations) -> dict[str, Any]:
    tasks = [{"connector": name, "task": number} for number in range(len(configurations.tasks.get(name, ())))]
    return {"name": name, "config": config, "tasks": tasks, "type": _type_of(config)}


def connector_status(
    name: str, config: Mapping[str, str], configurations: Configurations, states: States
) -> dict[str, Any]:
    """Raises NotFound for a connector that no worker has said anything of yet."""
    known = states.states.get((name, None))
    if known is None:
        raise NotFound(f"No status found for connector {name}")
    count = len(configurations.tasks.get(name, ()))
    tasks = [{"id": number, **state.shown()} for number, state in states.of(name).items() if number < count]
    return {"name": name, "connector": known.shown(), "tasks": tasks, "type": _type_of(config)}


def _type_of(config: Mapping[str, str]) -> str:
    try:
        return "sink" if issubclass(connector_class(config), SinkConnector) else "source"
    except Exception as error:  # a plugin that this worker does not have, or cannot load
        _log.debug("plugin not loaded", connector_class=config.get("connector.class"), reason=str(error))
        return "unknown"
