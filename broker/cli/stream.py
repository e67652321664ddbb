"""`python -m broker stream --config FILE`: run the stream job of a properties file until SIGTERM or SIGINT."""

import argparse
import os
from pathlib import Path

from broker.common.clock import SystemClock
from broker.common.errors import StartupError
from broker.common.extras import require
from broker.common.logs import configure_logs
from broker.common.stop_signals import stop_event
from broker.spark.config import read_stream_config


def main(argv: list[str]) -> int:
    """Returns 0 after a clean stop; raises StartupError when the job cannot run, NotNowError when its query failed."""
    parser = argparse.ArgumentParser(
        prog="broker stream",
        description="Run a stream job on Spark.",
        epilog="The keys that the file may have are listed by `python -m broker stream-jobs JOB`.",
    )
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="a properties file")
    file = parser.parse_args(argv).config
    require("spark")
    try:
        config = read_stream_config(file.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"{file} cannot be read: {error}.") from error
    configure_logs(process="stream", job=config.job)
    os.umask(0o077)  # checkpoints and scratch files hold records
    stop = stop_event()
    from broker.spark.job import run_job

    return run_job(config, stop, SystemClock())
