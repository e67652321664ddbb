"""A worker of its own: configurations in memory, source offsets in a file, REST, until it is told to stop."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from broker.common.errors import BarnabasError
from broker.common.logs import logger
from broker.connect.herder.herder import Herder
from broker.connect.herder.validation import require_valid
from broker.connect.plugins import paths
from broker.connect.rest.app import ConnectRest
from broker.connect.rest.forwarding import Send, sender
from broker.connect.rest.offsets import ConnectorOffsets
from broker.connect.rest.serving import RestSockets, read_rest, serving
from broker.connect.settings import STANDALONE, WorkerSettings, read_settings
from broker.connect.storage.configurations import Configurations
from broker.connect.storage.logs import FileLog, MemoryLog
from broker.connect.storage.offsets import StoredOffsets
from broker.connect.storage.records import TARGETS
from broker.connect.storage.states import States

_log = logger("broker.connect")


class ConnectorFailed(BarnabasError):
    """A connector of the command line cannot be made: the exit status is 3."""


def run_standalone(
    props: Mapping[str, str], connectors: list[tuple[dict[str, str], str | None]], stop: threading.Event
) -> None:
    """Run each connector with its initial target state, or None, until `stop` is set.

    Raises StartupError, ConnectorFailed.
    """
    settings = read_settings(props, STANDALONE)
    paths.allow(list(settings.connector_file_roots) or None, list(settings.connector_file_write_roots) or None)
    logins = settings.logins()
    sockets = RestSockets(read_rest(settings))
    configurations, states, offsets = Configurations(), States(), StoredOffsets()
    herder = Herder(settings, sockets.worker_id(settings), configurations, states, offsets)
    herder.config_log = MemoryLog(herder.on_config)
    herder.state_log = MemoryLog(states.apply)
    herder.offset_log = FileLog(Path(settings.offset_storage_file_filename), offsets.apply, offsets.everything)
    herder.offset_log.start()
    herder.start()
    try:
        with serving(rest_of(herder, sender(sockets.rest.client_tls)), sockets, logins):
            for config, target in connectors:
                _create(herder, config, target)
            _log.info("Kafka Connect started", worker=herder.worker_id)
            stop.wait()
    finally:
        herder.stop()


def _create(herder: Herder, config: dict[str, str], target: str | None) -> None:
    name = config.get("name", "").strip()
    try:
        if not name:
            raise ConnectorFailed('Missing required configuration "name" which has no default value.')
        if target is not None and target not in TARGETS:
            raise ConnectorFailed(f"initial_state {target} is none of RUNNING, PAUSED, STOPPED")
        require_valid(config, herder.settings)
        herder.put_config(name, config, target=target, may_exist=False)
    except BarnabasError as error:
        raise ConnectorFailed(f"Failed to create connector {name or '?'}: {error}") from error


def rest_of(herder: Herder, send: Send) -> ConnectRest:
    return ConnectRest(herder, _cluster_id(herder.settings), ConnectorOffsets(herder), send)


def _cluster_id(settings: WorkerSettings) -> Callable[[], str]:
    def ask() -> str:
        with settings.cluster() as cluster:
            return cluster.describe_topics([]).cluster_id or ""

    return ask
