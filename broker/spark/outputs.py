"""What a job's batch becomes: records in topics, each once."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from broker.spark.cluster import ClientConfig
from broker.spark.sink import BatchSink, KafkaOutputTopic
from broker.spark.sink_state import OutputRecord, SinkState

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class TopicOutputs:
    """Writes the rows of a batch to the topics they name, or to the one there is. For one query and one thread."""

    def __init__(self, client: ClientConfig, directory: Path, topics: Iterable[str]):
        self._sinks = {
            topic: BatchSink(KafkaOutputTopic(client, topic), SinkState(directory / topic)) for topic in topics
        }

    def write(self, changed: "DataFrame", batch: int) -> None:
        by_topic: dict[str, list[OutputRecord]] = {}
        only = next(iter(self._sinks)) if len(self._sinks) == 1 else ""
        for topic, record in output_records(_as_bytes(changed).toArrow(), only):
            by_topic.setdefault(topic, []).append(record)
        for topic, records in by_topic.items():
            self._sinks[topic].write(batch, records)


def _as_bytes(changed: "DataFrame") -> "DataFrame":
    from pyspark.sql import functions as f

    return changed.withColumns({name: f.col(name).cast("binary") for name in ("key", "value")})


def output_records(rows: "pa.Table", only_topic: str) -> Iterator[tuple[str, OutputRecord]]:
    """Each row with its topic; `only_topic` is where rows go that do not name one."""
    nothing = [None] * rows.num_rows
    topics, headers = (
        rows[name].to_pylist() if name in rows.column_names else nothing for name in ("topic", "headers")
    )
    columns = (rows["key"].to_pylist(), rows["value"].to_pylist(), topics, headers)
    for key, value, topic, pairs in zip(*columns, strict=True):
        said = tuple((pair["key"], pair["value"]) for pair in pairs or ())
        yield topic or only_topic, OutputRecord(key, value, said)
