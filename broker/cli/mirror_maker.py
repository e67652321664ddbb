"""`python -m broker mirror-maker FILE [--clusters ALIAS …]`: Kafka's dedicated mirror until SIGTERM or SIGINT."""

import argparse

from broker.client.security.errors import ClientConfigError
from broker.client.security.file import read_client_properties
from broker.common.errors import StartupError
from broker.common.logs import configure_logs
from broker.common.stop_signals import stop_event


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="broker mirror-maker", description="Copy topics of clusters into others.")
    parser.add_argument("file", metavar="mm2.properties", help="clusters and flows")
    parser.add_argument("--clusters", nargs="+", default=[], metavar="ALIAS", help="only flows to these")
    arguments = parser.parse_args(argv)
    configure_logs(process="mirror")
    stop = stop_event()
    from broker.connect.mirror_maker import run_mirror_maker

    try:
        props = read_client_properties(arguments.file)
    except ClientConfigError as error:
        raise StartupError(f"{error}.") from None
    run_mirror_maker(props, arguments.clusters, stop)
    return 0
