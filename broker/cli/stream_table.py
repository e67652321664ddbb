"""`python -m broker stream-table --bootstrap-server HOST:PORT --topic T`: ask a table that a stream job keeps."""

import argparse
import json
import os
import sys
from collections.abc import Callable

from broker.cli.frame.connecting import client_config, security_of
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.common.errors import BarnabasError, StartupError
from broker.spark.table import TableRow, greatest, read_table


def main(argv: list[str]) -> int:
    """Return 0 when there were rows, 1 when there were none; raises StartupError when the table cannot be read."""
    arguments = _parser().parse_args(argv)
    try:
        security = security_of(client_config(arguments.command_config))
        with ClusterConnections(parse_bootstrap_servers(arguments.bootstrap_server), security=security) as cluster:
            table = read_table(cluster, arguments.topic, _wanted(arguments))
    except (BarnabasError, TimeoutError) as error:
        raise StartupError(f"{arguments.topic} cannot be read: {str(error).rstrip('.')}.") from None
    rows = greatest(table, arguments.by, arguments.top or len(table))
    _print(rows, arguments.json)
    return 0 if rows else 1


def _wanted(arguments: argparse.Namespace) -> Callable[[str], bool]:
    keys = set(arguments.key)
    return lambda key: (not keys or key in keys) and key.startswith(arguments.prefix)


def _print(rows: list[TableRow], as_json: bool) -> None:
    try:
        for key, value in rows:
            print(json.dumps({"key": key, "value": value}) if as_json else f"{_shown(value):>12}  {key}")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shown(value: object) -> str:
    """Return a single count as a number, several columns with their names."""
    if not isinstance(value, dict):
        return str(value)
    if set(value) == {"count"}:
        return str(value["count"])
    return " ".join(f"{name}={value}" for name, value in value.items())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="broker stream-table",
        description="Print the newest value of each key of a topic, the greatest counts first.",
    )
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT,…", help="some brokers of the cluster")
    parser.add_argument("--command-config", metavar="FILE", help="a properties file of the client")
    parser.add_argument("--topic", required=True, help="the output of a job, as count_table")
    parser.add_argument("--key", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--prefix", default="", help="only keys that begin so")
    parser.add_argument("--top", type=int, default=0, metavar="N", help="only the first N rows")
    parser.add_argument("--by", default="count", metavar="COLUMN", help="what is greatest (count)")
    parser.add_argument("--json", action="store_true", help="a JSON object in each line")
    return parser
