"""`python -m broker audit --bootstrap-server HOST:PORT`: which windows of a topic are complete, and what is not."""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from broker.audit.increment import AUDIT_TOPIC
from broker.audit.report import as_json, report_lines
from broker.audit.states import TROUBLES
from broker.audit.verdict import judge
from broker.cli.frame.connecting import client_config, security_of
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.security.librdkafka import librdkafka_settings
from broker.common.errors import BarnabasError, StartupError


def main(argv: list[str]) -> int:
    """Return 0 when nothing is found, 1 when records are missing, more than there should be, or others."""
    arguments = _parser().parse_args(argv)
    from broker.audit.topic import read_ledger

    try:
        with reach_cluster(arguments)[1]() as cluster:
            ledger = read_ledger(cluster, arguments.audit_topic)
    except (BarnabasError, TimeoutError) as error:
        raise StartupError(f"the audit topic cannot be read: {error}") from None
    now_ms, grace_ms = time.time_ns() // 1_000_000, arguments.grace and int(arguments.grace * 1000)
    verdicts = [judge(ledger, topic, now_ms, grace_ms) for topic in arguments.topic or ledger.topics()]
    if arguments.json:
        print(json.dumps([as_json(verdict) for verdict in verdicts]))
    for name in () if arguments.json else verdicts:
        print("\n".join(report_lines(name, arguments.windows)))
    return int(any(finding.state in TROUBLES for verdict in verdicts for finding in verdict.findings))


def reach_cluster(arguments: argparse.Namespace) -> tuple[dict[str, Any], Callable[[], ClusterConnections]]:
    """Return the settings of librdkafka by what was typed, and what makes a client of ours. Raises StartupError."""
    try:
        servers = parse_bootstrap_servers(arguments.bootstrap_server)
        security = security_of(client_config(arguments.command_config))
    except BarnabasError as error:
        raise StartupError(str(error)) from None
    settings = {"bootstrap.servers": arguments.bootstrap_server, **(librdkafka_settings(security) if security else {})}
    return settings, lambda: ClusterConnections(servers, client_id="barnabas-audit", security=security)


def add_connection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT,…")
    parser.add_argument("--command-config", type=Path, metavar="FILE", help="client properties, mode 600")
    parser.add_argument("--audit-topic", default=AUDIT_TOPIC, metavar="TOPIC")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="broker audit", description="Tell which windows are complete.")
    add_connection(parser)
    parser.add_argument("--topic", action="append", help="only these")
    parser.add_argument("--windows", type=int, default=20, metavar="N", help="the newest, of each topic")
    parser.add_argument(
        "--grace", type=float, metavar="SECONDS", help="to wait after a window's end; default one window"
    )
    parser.add_argument("--json", action="store_true")
    return parser
