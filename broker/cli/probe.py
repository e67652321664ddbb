"""`python -m broker probe --config FILE`: measure a cluster from outside until SIGTERM or SIGINT."""

import argparse
from pathlib import Path

from broker.common.clock import SystemClock
from broker.common.errors import StartupError
from broker.common.logs import configure_logs
from broker.common.stop_signals import stop_event
from broker.probe.config import read_probe_config
from broker.probe.probe import Probe


def main(argv: list[str]) -> int:
    """Returns 0 after a clean stop; raises StartupError when the probe cannot run."""
    parser = argparse.ArgumentParser(prog="broker probe", description="Write to every broker and read it back.")
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="a properties file")
    file = parser.parse_args(argv).config
    try:
        config = read_probe_config(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"{file} cannot be read: {error}.") from error
    configure_logs(process="probe")
    stop = stop_event()
    Probe(config, SystemClock()).run(stop)
    return 0
