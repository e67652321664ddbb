"""`python -m tests.bench.streams`: rows per second of the Spark source and sink, beside librdkafka and Spark's files.

What is compared runs in turn, round by round: on a shared machine only figures of one run can be compared.
"""

import argparse
import os
import statistics
import tempfile
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from broker.spark.session import build_session
from broker.spark.source import BarnabasDataSource
from tests.barnabas_cluster import running_cluster
from tests.bench.streams.queries import QUERIES, Ends, rows_per_second
from tests.bench.streams.readers import READERS, Reading, measure

VALUE_BYTES = 100


def main() -> None:
    arguments = _parser().parse_args()
    directory = Path(tempfile.mkdtemp(prefix="barnabas-bench-streams-"))
    with running_cluster(directory / "cluster") as cluster:
        servers = cluster.bootstrap_servers
        print(f"{arguments.rows:,} records of {VALUE_BYTES} bytes; load {_load()}", flush=True)
        _fill(servers, "bench-one", arguments.rows, partitions=1)
        _bench_readers(servers, arguments)
        if not arguments.no_spark:
            _fill(servers, "bench-two", arguments.rows, partitions=2)
            _create(servers, "bench-output", 2)
            _bench_queries(servers, directory, arguments)
    print(f"load {_load()}")


def _bench_readers(servers: str, arguments: argparse.Namespace) -> None:
    runs: dict[str, list[Reading]] = {name: [] for name in READERS}
    for _ in range(arguments.rounds):
        for name, read in READERS.items():
            runs[name].append(measure(read, servers, "bench-one", arguments.rows))
    for name, readings in runs.items():
        wall = statistics.median(reading.per_second for reading in readings)
        cpu = statistics.median(reading.per_cpu_second for reading in readings)
        print(f"one partition: {name:<28}{wall:>12,.0f} rows/s {cpu:>12,.0f} rows/s of one core", flush=True)


def _bench_queries(servers: str, directory: Path, arguments: argparse.Namespace) -> None:
    spark = build_session("bench", "local[2]", "1g", directory)
    spark.dataSource.register(BarnabasDataSource)
    ends = Ends(spark, servers, "bench-two", directory)
    ends.write_files()
    for name in QUERIES:
        runs: dict[str, list[float]] = {"barnabas": [], "files": []}
        for _ in range(arguments.rounds):
            for which, rates in runs.items():
                rates.append(rows_per_second(ends, name, which))
        for which, rates in runs.items():
            print(f"Spark: {name:<20}{which:<12}{statistics.median(rates):>12,.0f} rows/s", flush=True)
    spark.stop()


def _fill(servers: str, topic: str, rows: int, partitions: int) -> None:
    _create(servers, topic, partitions)
    producer = Producer(
        {"bootstrap.servers": servers, "log_level": 0, "linger.ms": 50, "queue.buffering.max.messages": 200_000}
    )
    value = os.urandom(VALUE_BYTES // 2).hex().encode()
    for number in range(rows):
        while True:
            try:
                producer.produce(topic, value, partition=number % partitions)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0


def _create(servers: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(30)


def _load() -> str:
    return ", ".join(f"{load:.1f}" for load in os.getloadavg())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.streams", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="records of the input (default 1,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each; medians are printed (default 3)")
    parser.add_argument("--no-spark", action="store_true", help="only the readers, without Spark")
    return parser


if __name__ == "__main__":
    main()
