"""`python -m tests.faults.streams.driver DIRECTORY SERVERS QUERY`: a Spark driver that runs until it is killed."""

import sys
from pathlib import Path

from broker.spark.session import build_session
from broker.spark.source import BarnabasDataSource
from tests.faults.streams.queries import QUERIES

#: What a start finds waiting is read in a few batches.
_OFFSETS_PER_BATCH = 2_000
_TASKS = "4"


def main(directory: Path, servers: str, name: str) -> None:
    spark = build_session(name, "local[2]", "512m", directory)
    spark.dataSource.register(BarnabasDataSource)
    spark.conf.set("spark.sql.streaming.checkpointLocation", str(directory / "checkpoints"))
    cluster = {"kafka.bootstrap.servers": servers}
    records = (
        spark.readStream.format("barnabas")
        .options(**cluster, subscribe="input", startingOffsets="earliest")
        .options(maxOffsetsPerTrigger=str(_OFFSETS_PER_BATCH), minPartitions=_TASKS)
        .load()
    )
    query = (
        QUERIES[name]
        .build(records)
        .writeStream.queryName(name)
        .format("barnabas")
        .options(**cluster, topic="output")
        .trigger(processingTime="100 milliseconds")
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
