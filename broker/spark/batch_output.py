"""Writes the rows of a batch from `foreachBatch`, exactly once: for output modes the sink of a stream does not have.

Spark lets a Python sink append only. In mode update, and to write several topics apart, a query hands its batches to a
function, and the function calls this.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_QUERY = "sql.streaming.queryId"


def write_batch(
    rows: "DataFrame",
    batch: int,
    *,
    bootstrap_servers: str,
    topic: str | None = None,
    output: str,
    client_config: str = "",
) -> None:
    """Write every row as a record, exactly once for each batch.

    `output` tells apart the outputs of one query: each writes a batch once. Without `topic` rows name theirs.
    `client_config` is the path of a file of Kafka's client properties.
    """
    query = rows.sparkSession.sparkContext.getLocalProperty(_QUERY)
    options = {
        "kafka.bootstrap.servers": bootstrap_servers,
        "queryId": f"{query}.{output}",
        "batchId": str(batch),
    }
    if topic is not None:
        options["topic"] = topic
    if client_config:
        options["kafka.client.config"] = client_config
    rows.write.format("barnabas").options(**options).mode("append").save()
