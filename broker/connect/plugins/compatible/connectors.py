"""The table of other products' connectors, and what to use in place of those that have no counterpart here."""

from broker.common.java.numbers import trim
from broker.connect.plugins.compatible import http_sinks, jdbc, object_sinks
from broker.connect.plugins.compatible.setting import ForeignConnector

#: By the class's whole name, and by its simple name where no connector of ours has the same.
CONNECTORS: dict[str, ForeignConnector] = {**jdbc.CONNECTORS, **object_sinks.CONNECTORS, **http_sinks.CONNECTORS}
CONNECTORS |= {
    alias: CONNECTORS[f"io.confluent.connect.{package}.{alias.removesuffix('Connector')}Connector"]
    for package, simple in (("jdbc", "JdbcSource"), ("jdbc", "JdbcSink"), ("s3", "S3Sink"))
    for alias in (simple, f"{simple}Connector")
}
_BY_QUERIES = "SqlSourceConnector reads tables by queries, with mode=timestamp+incrementing"
_BY_HTTP = "HttpSinkConnector sends records to an address"
_BY_FILES = "ObjectSinkConnector writes files to a directory or an S3 bucket"
#: What a class's name begins with, or ends with, and what to use instead.
_INSTEAD = {
    "io.debezium.connector.": _BY_QUERIES,
    "io.confluent.connect.elasticsearch.": _BY_HTTP,
    "io.aiven.kafka.connect.opensearch.": _BY_HTTP,
    "io.aiven.kafka.connect.gcs.": f"{_BY_FILES}; Google's storage speaks S3 with s3.endpoint",
    "io.confluent.connect.gcs.": f"{_BY_FILES}; Google's storage speaks S3 with s3.endpoint",
    "io.confluent.connect.azure.blob.": _BY_FILES,
    "io.confluent.connect.hdfs": _BY_FILES,
    "io.confluent.connect.replicator.": "MirrorSourceConnector copies topics between clusters",
    "io.confluent.kafka.connect.datagen.": "barnabas.connect.DatagenSourceConnector makes records",
    "io.lenses.streamreactor.connect.aws.s3.sink.": _BY_FILES,
    "com.datamountaineer.streamreactor.connect.aws.s3.sink.": _BY_FILES,
}


def own_class(name: str) -> str:
    """Return the name of our class that a class of theirs is; the name itself if it is not one of the table."""
    connector = CONNECTORS.get(trim(name))
    return name if connector is None else connector.ours


def advice_for(name: str) -> str:
    """Return a sentence of what to use in place of a class that is not here, or nothing."""
    return next((f". Instead: {advice}." for prefix, advice in _INSTEAD.items() if trim(name).startswith(prefix)), "")
