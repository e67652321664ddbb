"""One Spark session for all tests of jobs, and topics as files: what a job makes of small batches, one by one."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from broker.spark.catalog import find_job
from broker.spark.config import read_settings
from broker.spark.dead_letters import records_dead, records_read
from broker.spark.session import build_session

_RECORDS = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestampType", pa.int32()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)


class Row(NamedTuple):
    """A record of a topic in a test."""

    key: str | bytes | None
    value: object
    time_ms: int = 0
    headers: tuple[tuple[str, bytes], ...] = ()


class Written(NamedTuple):
    key: str | None
    value: object
    topic: str | None
    headers: dict[str, bytes]


@pytest.fixture(scope="package")
def spark(tmp_path_factory):
    """Java starts once for all of them, and ends with the last."""
    directory = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))  # as it is put back at the end
        session = build_session("tests", "local[2]", "512m", directory)
        yield session
        session.stop()


class TopicFiles:
    """A job's `Inputs` over files: a file for each batch of a topic, read one in each batch."""

    def __init__(self, spark, directory: Path):
        self._spark = spark
        self._directory = directory
        self._offset = 0

    def append(self, topic: str, rows: Iterable[Row]) -> None:
        directory = self._directory / topic
        directory.mkdir(parents=True, exist_ok=True)
        columns: dict[str, list] = {name: [] for name in _RECORDS.names}
        for row in rows:
            values = (
                _bytes(row.key),
                _bytes(row.value),
                topic,
                0,
                self._offset,
                row.time_ms * 1000,
                0,
                row.headers or None,
            )
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
            self._offset += 1
        number = len(list(directory.iterdir()))
        path = directory / f"{number:04}.parquet"
        pq.write_table(pa.table(columns, _RECORDS), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))

    def topic(self, name: str, *, headers: bool = False):
        records = self._read(name, 1)
        return records if headers else records.drop("headers")

    def whole_topic(self, name: str):
        return self._read(name, 1_000).drop("headers")

    def parquet(self, path: str, max_files: int):
        return self._read(path, max_files)

    def _read(self, name: str, files: int):
        directory = str(self._directory / name)
        schema = self._spark.read.parquet(directory).schema
        return self._spark.readStream.schema(schema).option("maxFilesPerTrigger", files).parquet(directory)


@pytest.fixture
def topics(spark, tmp_path):
    return TopicFiles(spark, tmp_path / "topics")


@pytest.fixture
def written_by(spark, topics, tmp_path):
    """written_by(job, settings): what the job writes of all there is in `topics`, in the order it was written.

    Afterwards `written_by.counted` is how many records its reports say were read, and how many are dead.
    """

    def run(name: str, settings: Mapping[str, str], directory: Path | None = None) -> list[Written]:
        job = find_job(name, directory)
        values = read_settings(job, dict(settings))
        written: list[Written] = []
        mode = job.output_mode(values)
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", str(mode == "append").lower())
        query = (
            job.build(topics, values)
            .writeStream.outputMode(mode)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .foreachBatch(lambda rows, _batch: written.extend(map(_written, rows.collect())))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        reports = [json.loads(item.json) for item in query.recentProgress]
        run.counted = {"read": sum(map(records_read, reports)), "dead": sum(map(records_dead, reports))}
        return written

    return run


def _bytes(value: object) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _written(row) -> Written:
    columns = row.asDict()
    headers = {pair["key"]: bytes(pair["value"]) for pair in columns.get("headers") or ()}
    return Written(_text(columns["key"]), _read_json(_text(columns["value"])), columns.get("topic"), headers)


def _text(value: object) -> str | None:
    return bytes(value).decode(errors="replace") if isinstance(value, bytes | bytearray) else value


def _read_json(text: str | None) -> object:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text
