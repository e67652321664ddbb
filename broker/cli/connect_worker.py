"""`python -m broker connect-worker (standalone | distributed) FILE …`: a Connect worker until SIGTERM or SIGINT."""

import argparse
import json
from pathlib import Path
from typing import Any

from broker.client.security.errors import ClientConfigError
from broker.client.security.file import read_client_properties
from broker.common.errors import StartupError
from broker.common.extras import require
from broker.common.logs import configure_logs, logger
from broker.common.stop_signals import stop_event

#: Exit statuses of Kafka's: the worker cannot start, a connector of the command line cannot be made.
_STARTUP, _CONNECTOR = 2, 3
_log = logger("broker.connect")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="broker connect-worker", description="Run a Connect worker.")
    parser.add_argument("mode", choices=("standalone", "distributed"))
    parser.add_argument("worker", metavar="FILE", help="the worker's properties")
    parser.add_argument("connectors", nargs="*", metavar="FILE", help="standalone: properties or JSON of a connector")
    arguments = parser.parse_args(argv)
    require("connect")
    configure_logs(process="connect")
    stop = stop_event()
    from broker.connect.standalone import ConnectorFailed, run_standalone

    try:
        props = _properties(arguments.worker)
        if arguments.mode == "standalone":
            run_standalone(props, [_connector(path) for path in arguments.connectors], stop)
        else:
            from broker.connect.distributed import run_distributed

            run_distributed(props, stop)
    except ConnectorFailed as error:
        _log.error("connector not made", reason=str(error))
        return _CONNECTOR
    except StartupError as error:
        _log.error("worker not started", reason=str(error))
        return _STARTUP
    return 0


def _properties(path: str) -> dict[str, str]:
    try:
        return read_client_properties(path)
    except ClientConfigError as error:
        raise StartupError(f"{error}.") from None


def _connector(path: str) -> tuple[dict[str, str], str | None]:
    """Read a connector's file: properties, a flat JSON object, or `{name, config, initial_state}`. Raises
    StartupError.
    """
    if not path.endswith(".json"):
        return _properties(path), None
    try:
        read = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise StartupError(f"{path} cannot be read: {error}.") from None
    if not isinstance(read, dict):
        raise StartupError(f"{path} holds no JSON object.")
    if isinstance(read.get("config"), dict):
        state = str(read.get("initial_state") or "").upper().replace("RUNNING", "STARTED")
        return {"name": str(read.get("name", "")), **_texts(read["config"])}, state or None
    return _texts(read), None


def _texts(config: dict[str, Any]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
