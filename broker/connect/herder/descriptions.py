"""What REST tells of a connector: its configuration and tasks, and what they are doing."""

from collections.abc import Mapping
from typing import Any

from broker.common.logs import logger
from broker.connect.api import SinkConnector
from broker.connect.herder.common_keys import version_of
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
    count, version = len(configurations.tasks.get(name, ())), version_shown(config)
    tasks = [{"id": number, **state.shown(), **version} for number, state in states.of(name).items() if number < count]
    return {"name": name, "connector": {**known.shown(), **version}, "tasks": tasks, "type": _type_of(config)}


def restarting(status: dict[str, Any], *, includes_tasks: bool, only_failed: bool) -> dict[str, Any]:
    """Return a status with what a restart was asked for, as it is answered before anything has happened."""

    def shown(unit: dict[str, Any], is_meant: bool) -> dict[str, Any]:
        if not is_meant or (only_failed and unit["state"] != "FAILED"):
            return unit
        return {**{key: text for key, text in unit.items() if key != "trace"}, "state": "RESTARTING"}

    tasks = [shown(task, includes_tasks) for task in status["tasks"]]
    return {**status, "connector": shown(status["connector"], True), "tasks": tasks}


def version_shown(config: Mapping[str, str]) -> dict[str, str]:
    """Return the version of a connector's class, also of its tasks (KIP-891); none of a class that is not here."""
    try:
        return {"version": version_of(connector_class(config))}
    except Exception as error:  # a plugin that this worker does not have, or cannot load
        _log.debug("plugin not loaded", connector_class=config.get("connector.class"), reason=str(error))
        return {}


def _type_of(config: Mapping[str, str]) -> str:
    try:
        return "sink" if issubclass(connector_class(config), SinkConnector) else "source"
    except Exception as error:  # a plugin that this worker does not have, or cannot load
        _log.debug("plugin not loaded", connector_class=config.get("connector.class"), reason=str(error))
        return "unknown"
