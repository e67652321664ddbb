"""`python -m broker connect --config FILE`: run the connectors of a properties file until SIGTERM or SIGINT."""

import argparse
import signal
from pathlib import Path
from threading import Event

from broker.common.clock import SystemClock
from broker.common.errors import StartupError
from broker.common.logs import configure_logs
from broker.connect.config import read_worker_config
from broker.connect.worker import ConnectWorker


def main(argv: list[str]) -> int:
    """Returns 0 after a clean stop; raises StartupError when the worker cannot run."""
    parser = argparse.ArgumentParser(prog="broker connect", description="Write what sources say to topics.")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="a properties file")
    file = parser.parse_args(argv).config
    try:
        config = read_worker_config(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"{file} cannot be read: {error}.") from error
    configure_logs(process="connect")
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    ConnectWorker(config, SystemClock()).run(stop)
    return 0
