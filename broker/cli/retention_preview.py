"""`python -m broker retention-preview --bootstrap-server HOST:PORT --zookeeper HOST:PORT --topic T`: what would go.

Nothing is deleted, and no configuration changed, by asking. Brokers tell it to members of the cluster only: to who can
read the cluster's secret in ZooKeeper.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from broker.cli.frame.connecting import client_config, security_of
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.retention import PreviewQuestion, preview_retention
from broker.client.retention_report import as_json, report_lines
from broker.common.errors import BarnabasError, StartupError
from broker.config.broker import read_broker_config
from broker.protocol.messages.preview_retention import PreviewRetentionTopicResult
from broker.security.membership import NONCE_BYTES, ClusterMembership
from broker.zookeeper.cluster_secret import read_secret
from broker.zookeeper.digest_file import read_digest
from broker.zookeeper.session import ZooKeeperSession

_CONNECT_TIMEOUT_MS = 10_000
_SESSION_TIMEOUT_MS = 6_000


def main(argv: list[str]) -> int:
    """Return 0 when every partition has answered, 1 when some could not; raises StartupError if nobody could."""
    arguments = _parser().parse_args(argv)
    try:
        preview = _preview(arguments)
    except BarnabasError as error:
        raise StartupError(str(error)) from None
    _print(preview, arguments)
    return int(any(partition.error_code for partition in preview.partitions))


def _preview(arguments: argparse.Namespace) -> PreviewRetentionTopicResult:
    question = PreviewQuestion(
        topic=arguments.topic,
        partitions=arguments.partition,
        configs=dict(arguments.config),
        include_compaction=not arguments.without_compaction,
        timeout_s=arguments.timeout,
    )
    security = security_of(client_config(arguments.command_config))
    with ClusterConnections(parse_bootstrap_servers(arguments.bootstrap_server), security=security) as cluster:
        return preview_retention(cluster, question, asyncio.run(_membership(arguments)))


async def _membership(arguments: argparse.Namespace) -> ClusterMembership | None:
    """Return the cluster's membership; None for a cluster without a secret, whose brokers are not Barnabas."""
    connect, digest_file = _zookeeper(arguments)
    digest = read_digest(Path(digest_file)) if digest_file else None
    session = ZooKeeperSession(connect, _SESSION_TIMEOUT_MS, digest)
    await session.connect(_CONNECT_TIMEOUT_MS)
    try:
        secret = await read_secret(session)
    finally:
        await session.close()
    return ClusterMembership(secret, lambda: os.urandom(NONCE_BYTES).hex()) if secret else None


def _zookeeper(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return ZooKeeper's address, and the digest file for reading the secret there; empty where it is unprotected."""
    if arguments.zookeeper:
        return arguments.zookeeper, arguments.zookeeper_digest_file
    try:
        config = read_broker_config(arguments.broker_config.read_text())
        return config.zookeeper_connect, arguments.zookeeper_digest_file or config.zookeeper_digest_file
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"cannot read {arguments.broker_config}: {error}") from None


def _print(preview: PreviewRetentionTopicResult, arguments: argparse.Namespace) -> None:
    lines = report_lines(preview, with_segments=arguments.segments)
    try:
        for line in [json.dumps(as_json(preview), indent=2)] if arguments.json else lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m broker retention-preview",
        description="Tell what retention and compaction would delete from a topic now. Nothing is deleted by asking.",
    )
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT,…", help="some brokers of the cluster")
    parser.add_argument("--command-config", metavar="FILE", help="a properties file of the client")
    secret = parser.add_mutually_exclusive_group(required=True)
    secret.add_argument(
        "--zookeeper",
        metavar="HOST:PORT,…[/CHROOT]",
        help="zookeeper.connect of the cluster: brokers answer clients that can read the cluster's secret there",
    )
    secret.add_argument(
        "--broker-config", type=Path, metavar="FILE", help="server.properties of one of its brokers, which names it"
    )
    parser.add_argument(
        "--zookeeper-digest-file",
        default="",
        metavar="FILE",
        help="with user:password of the brokers, where zookeeper.set.acl keeps the secret from others",
    )
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partition", type=int, action="append", default=[], help="only this one; may be repeated")
    parser.add_argument(
        "--config",
        type=_config,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="as if the topic were set so; KEY alone: as if it did not set the key; may be repeated",
    )
    parser.add_argument("--without-compaction", action="store_true", help="quicker: compaction reads whole logs")
    parser.add_argument("--segments", action="store_true", help="name each segment")
    parser.add_argument("--timeout", type=float, default=30.0, metavar="SECONDS", help="for each broker (30)")
    parser.add_argument("--json", action="store_true", help="print all there is to know, for a program")
    return parser


def _config(text: str) -> tuple[str, str | None]:
    key, separator, value = text.partition("=")
    return key.strip(), value.strip() if separator else None
