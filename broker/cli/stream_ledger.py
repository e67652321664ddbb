"""`python -m broker stream-ledger --bootstrap-server HOST:PORT`: what the sinks of stream jobs have decided.

A batch of which a part was lost is refused until a person has said that it may be written again: `--forget`.
"""

import argparse

from broker.cli.frame.connecting import client_config, security_of
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.coordinators import Coordinators
from broker.common.errors import BarnabasError, StartupError
from broker.spark.decisions import CommitDecisions
from broker.spark.ledger import SinkCommitLog, parse_decision


def main(argv: list[str]) -> int:
    """Return 0 when there was something to tell or to forget, 1 when there was not; StartupError when it cannot be
    known.
    """
    arguments = _parser().parse_args(argv)
    try:
        security = security_of(client_config(arguments.command_config))
        with ClusterConnections(parse_bootstrap_servers(arguments.bootstrap_server), security=security) as cluster:
            return _forget(cluster, arguments.forget) if arguments.forget else _list(cluster)
    except (BarnabasError, TimeoutError) as error:
        raise StartupError(f"{str(error).rstrip('.')}.") from None


def _list(cluster: ClusterConnections) -> int:
    decisions = CommitDecisions(cluster, Coordinators(cluster)).all()
    for name, text in sorted(decisions.items()):
        decision = parse_decision(name, text)
        print(f"{name}  batch {decision.batch}  of {len(decision.producers)} tasks  by run {decision.run}")
    return 0 if decisions else 1


def _forget(cluster: ClusterConnections, name: str) -> int:
    coordinators = Coordinators(cluster)
    if CommitDecisions(cluster, coordinators).newest(name) is None:
        print(f"There is no ledger {name}; without --forget all that there are are listed.")
        return 1
    SinkCommitLog(name, cluster, coordinators).forget()
    print(f"{name} is forgotten: the query writes its next batch as if it were the first.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="broker stream-ledger", description="Print the newest batch that each query has written to its topics."
    )
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT,…", help="some brokers of the cluster")
    parser.add_argument("--command-config", metavar="FILE", help="a properties file of the client")
    parser.add_argument(
        "--forget", metavar="NAME", help="forget this ledger: a batch that was written already may come twice then"
    )
    return parser
