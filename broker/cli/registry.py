"""`python -m broker registry --config FILE`: run a schema registry until SIGTERM or SIGINT."""

import argparse

from broker.common.errors import StartupError
from broker.common.extras import require
from broker.common.logs import configure_logs, logger
from broker.registry.config import read_config_file


def main(argv: list[str]) -> int:
    """Returns 0 after a clean stop; raises StartupError when the registry cannot run."""
    parser = argparse.ArgumentParser(prog="broker registry", description="Run a schema registry.")
    parser.add_argument("--config", required=True, metavar="FILE", help="a properties file")
    parser.add_argument("--override", action="append", default=[], metavar="KEY=VALUE", help="instead of the file's")
    arguments = parser.parse_args(argv)
    require("registry")
    overrides = {}
    for entry in arguments.override:
        key, is_pair, value = entry.partition("=")
        if not is_pair:
            raise StartupError(f"--override {entry} is not KEY=VALUE.")
        overrides[key.strip()] = value.strip()
    config = read_config_file(arguments.config, overrides)
    configure_logs(process="registry")
    if config.unknown:
        logger(__name__).warning("unknown keys ignored", keys=",".join(config.unknown))
    import uvloop

    from broker.registry.process import run

    uvloop.run(run(config))
    return 0
