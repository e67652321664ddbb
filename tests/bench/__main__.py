"""`python -m tests.bench`: run the loads against a broker it starts, and print a table.

With `--against HOST:PORT` (any Kafka) or `--against-commit REF` (brokers of another commit) each load runs in turn on
both, round by round, and ratios are printed: on a shared machine only figures of one run can be compared.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import psutil

from tests.barnabas_cluster import BrokerProcess, running_cluster
from tests.bench import audit, groups, many_partitions, rights, scale, stalls, tls
from tests.bench.commits import broker_of, checked_out
from tests.bench.loads import Figure, Target, loads
from tests.bench.replicated import Load, ReplicatedTarget, replicated_loads
from tests.bench.transactions import replicated_transactions, transactions

T = TypeVar("T")


def main() -> None:
    arguments = _parser().parse_args()
    with ExitStack() as stack:
        other = stack.enter_context(checked_out(arguments.against_commit)) if arguments.against_commit else None
        _measure(arguments, other)


def _measure(arguments: argparse.Namespace, other: Path | None) -> None:
    """Run what was chosen; `other` has the files of the commit that is measured beside ours."""
    one_broker = {**loads(arguments.scale), "transactions of 100 records": transactions(5 * arguments.scale)}
    chosen = {name: load for name, load in one_broker.items() if (arguments.only or "") in name}
    if chosen:
        _run_loads(chosen, arguments, other)
    three_brokers = {
        **replicated_loads(arguments.scale),
        "replicated: transactions of 100 records": replicated_transactions(5 * arguments.scale),
    }
    replicated = {name: load for name, load in three_brokers.items() if (arguments.only or "") in name}
    if replicated and not arguments.against:
        _run_replicated(replicated, arguments.rounds, other)
    parts = (scale, groups, many_partitions, stalls, tls, rights, audit)
    for name, figure in [named for part in parts for named in part.figures().items()]:
        if (arguments.only or "") in name and not arguments.against and other is None:
            print(f"{name:<42}barnabas  {figure()}", flush=True)


def _run_loads(
    chosen: dict[str, Callable[[Target], Figure]], arguments: argparse.Namespace, other: Path | None
) -> None:
    with ExitStack() as stack:
        targets = {"barnabas": stack.enter_context(_one_broker(BrokerProcess.command))}
        if other is not None:
            targets["other"] = stack.enter_context(_one_broker(broker_of(other)))
        if arguments.against:
            host, _, port = arguments.against.rpartition(":")
            targets["other"] = Target("other", host, int(port))
        _in_turn(chosen, targets, arguments.rounds)


@contextmanager
def _one_broker(command: Sequence[str]) -> Iterator[Target]:
    with running_cluster(brokers=1, command=command) as cluster:
        (broker,) = cluster.brokers
        yield Target("barnabas", "127.0.0.1", broker.port, psutil.Process(broker.process.pid))


def _run_replicated(chosen: dict[str, Load], rounds: int, other: Path | None) -> None:
    with ExitStack() as stack:
        targets = {"barnabas": ReplicatedTarget(stack.enter_context(running_cluster(brokers=3)))}
        if other is not None:
            cluster = stack.enter_context(running_cluster(brokers=3, command=broker_of(other)))
            targets["other"] = ReplicatedTarget(cluster)
        _in_turn(chosen, targets, rounds)


def _in_turn(chosen: dict[str, Callable[[T], Figure]], targets: dict[str, T], rounds: int) -> None:
    """Run each load on all targets round by round, and print the medians."""
    for name, load in chosen.items():
        runs: dict[str, list[Figure]] = {target: [] for target in targets}
        for _ in range(rounds):
            for target, place in targets.items():
                runs[target].append(load(place))
        _print(name, {target: _median(its_runs) for target, its_runs in runs.items()})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="HOST:PORT", help="any Kafka to run the same loads on, in turn")
    parser.add_argument("--against-commit", metavar="REF", help="a commit of this repository whose brokers run beside")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each load; medians are printed (default 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="stretch of every load (default 1)")
    parser.add_argument("--only", metavar="TEXT", help="only loads with TEXT in their name")
    return parser


def _median(runs: Sequence[Figure]) -> Figure:
    def middle(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None

    first = runs[0]
    return Figure(
        rate=middle([run.rate for run in runs]),
        unit=first.unit,
        cpu=middle([run.cpu for run in runs]),
        cpu_unit=first.cpu_unit,
        p50_ms=middle([run.p50_ms for run in runs]),
        p99_ms=middle([run.p99_ms for run in runs]),
        alone_p99_ms=middle([run.alone_p99_ms for run in runs]),
        rss_mb=middle([run.rss_mb for run in runs]),
    )


def _print(name: str, figures: dict[str, Figure]) -> None:
    for target, figure in figures.items():
        cells = [f"{figure.rate:>10,.0f} {figure.unit:<6}"]
        if figure.cpu is not None:
            cells.append(f"{figure.cpu:6.2f} {figure.cpu_unit}")
        if figure.p50_ms is not None:
            cells.append(f"p50 {figure.p50_ms:.2f} ms  p99 {figure.p99_ms:.2f} ms")
        if figure.alone_p99_ms is not None:
            cells.append(f"p99 alone {figure.alone_p99_ms:.2f} ms")
        if figure.rss_mb is not None:
            cells.append(f"RSS {figure.rss_mb:.0f} MB")
        print(f"{name:<42}{target:<10}" + "   ".join(cells), flush=True)
    if len(figures) == 2:
        ours, other = figures.values()
        cpu = f"   CPU {ours.cpu / other.cpu:.2f}" if ours.cpu and other.cpu else ""
        print(f"{'':<42}ratio     {ours.rate / other.rate:>10.2f}{cpu}")


if __name__ == "__main__":
    main()
