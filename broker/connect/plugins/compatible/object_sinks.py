"""S3 sinks of Confluent and Aiven in settings of ObjectSink."""

import re
from collections.abc import Mapping

from broker.common.java.numbers import trim
from broker.connect.api import ConfigError
from broker.connect.plugins.compatible.setting import ForeignConnector, ForeignSetting, implied, refused, renamed, same

_OURS = "barnabas.connect.ObjectSinkConnector"
_ROLE = "give s3.access.key, or the worker's environment the role"
_PARTITIONER = "partitioner.class"
_BY_TIME = {"hourlypartitioner": "'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH"} | {
    "dailypartitioner": "'year'=YYYY/'month'=MM/'day'=dd"
}
_CONFLUENT: dict[str, ForeignSetting] = {
    **same("rotate.interval.ms", "rotate.schedule.interval.ms", "behavior.on.null.values", "s3.region"),
    "s3.bucket.name": renamed("s3.bucket"),
    "topics.dir": renamed("s3.prefix"),
    "store.url": renamed("s3.endpoint"),
    "aws.access.key.id": renamed("s3.access.key"),
    "aws.secret.access.key": renamed("s3.secret.key"),
    "flush.size": renamed("file.max.records"),
    "format.class": renamed(
        "format",
        {"jsonformat": "json", "parquetformat": "parquet", "avroformat": "avro"},
        "ByteArrayFormat has no counterpart",
    ),
    **dict.fromkeys((_PARTITIONER, "path.format", "partition.duration.ms"), implied()),  # by `_partitioner`
    "partition.field.name": refused("directories are by time or by the topic's partition"),
    "timestamp.extractor": implied("wallclock", "record", advice="directories are by the records' timestamps"),
    "timestamp.field": refused("directories are by the records' timestamps"),
    "timezone": implied("utc", "etc/utc", "gmt", advice="directories of time are in UTC"),
    "schema.compatibility": implied("none", advice="a file has one schema; records are not projected to another"),
    "s3.compression.type": implied("none", advice="Parquet is compressed by itself; gzip is not supported"),
    "s3.credentials.provider.class": implied(
        "defaultawscredentialsproviderchain", "environmentvariablecredentialsprovider", advice=_ROLE
    ),
    "s3.credentials.provider.*": refused(_ROLE),
    "s3.proxy.*": refused("a proxy is not supported"),
    "s3.ssea.name": refused("let the bucket's own default encrypt objects"),
    "s3.sse.*": refused("let the bucket's own default encrypt objects"),
    "s3.acl.canned": refused("let the bucket's policy decide about read access"),
    "s3.object.tagging": implied("false", advice="objects have no tags"),
    "file.delim": implied("+", advice="names are topic+partition+offset"),
    "directory.delim": implied("/", advice="directories are divided by /"),
    "filename.offset.zero.pad.width": implied("10", advice="offsets in names have ten digits"),
    **dict.fromkeys(("store.kafka.keys", "store.kafka.headers"), implied("false", advice="files have values")),
    "parquet.codec": implied("snappy", "zstd", advice="files of Parquet are compressed with zstd"),
    "avro.codec": implied("null", "none", advice="files of Avro are not compressed"),
    "json.decimal.format": implied("base64", "numeric"),
    **dict.fromkeys(
        (
            *("storage.class", "schema.generator.class", "locale", "s3.part.size", "s3.part.retries"),
            *("s3.retry.backoff.ms", "s3.compression.level", "s3.wan.mode", "s3.send.digest", "s3.http.*"),
            *("s3.path.style.access.enabled", "schema.cache.size", "enhanced.avro.schema.support"),
            *("connect.meta.data", "keys.format.class", "headers.format.class", "s3.elastic.buffer.*"),
            *("retry.backoff.ms", "shutdown.timeout.ms", "enable.conditional.writes", "max.files.scan.limit"),
            "report.null.values.to.dlq",
        ),
        implied(),
    ),
}  # fmt: skip
_AIVEN: dict[str, ForeignSetting] = {
    **same("file.max.records"),
    "aws.s3.bucket.name": renamed("s3.bucket"),
    "aws.s3.bucket": renamed("s3.bucket"),
    "aws.s3.prefix": renamed("s3.prefix"),
    "file.name.prefix": renamed("s3.prefix"),
    "aws.s3.region": renamed("s3.region"),
    "aws.s3.endpoint": renamed("s3.endpoint"),
    "aws.access.key.id": renamed("s3.access.key"),
    "aws.secret.access.key": renamed("s3.secret.key"),
    "format.output.type": renamed(
        "format", {"jsonl": "json", "parquet": "parquet"}, "a file has a JSON value a line, or is Parquet"
    ),
    "format.output.fields": implied("value", advice="files have the records' values"),
    "format.output.fields.value.encoding": implied("none", advice="values are not encoded again"),
    "format.output.envelope": implied("false", advice="lines are values without an envelope"),
    "file.compression.type": implied("none", advice="Parquet is compressed by itself"),
    "file.name.template": refused("names are topic/directory/topic+partition+offset"),
    "file.name.timestamp.*": implied(),
    **dict.fromkeys(("timestamp.timezone", "timestamp.source"), implied("utc", "wallclock", advice="times are UTC")),
    "aws.s3.part.size.bytes": implied(),
    "aws.s3.backoff.*": implied(),
    "aws.s3.*": refused("let the bucket's own defaults decide"),
    "aws.sts.*": refused(_ROLE),
    "aws.credentials.provider": refused(_ROLE),
}


_QUOTED_OR_YEAR = re.compile("('[^']*')|Y+")


def _year(match: re.Match[str]) -> str:
    """Return a quoted text as it is, and a year of Java's letters in place of Joda's."""
    return match[1] or "yyyy"


def _partitioner(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return where files go: by the topic's partition unless a partitioner of time is named. Raises ConfigError."""
    name = trim(theirs.get(_PARTITIONER, "DefaultPartitioner"))
    simple = name.rpartition(".")[2].lower()
    if simple == "defaultpartitioner":
        return {"partitioner": ("partition", _PARTITIONER)}
    if simple not in ("timebasedpartitioner", *_BY_TIME):
        raise ConfigError(
            _PARTITIONER,
            f"Invalid value {name} for configuration {_PARTITIONER}: this worker knows DefaultPartitioner, "
            "TimeBasedPartitioner, HourlyPartitioner and DailyPartitioner",
        )
    path = _BY_TIME.get(simple) or theirs.get("path.format", "")
    duration = {"hourlypartitioner": "3600000", "dailypartitioner": "86400000"}.get(simple) or theirs.get(
        "partition.duration.ms", ""
    )
    for key, text in (("path.format", path), ("partition.duration.ms", duration)):
        if not text:
            raise ConfigError(key, f"Invalid value for configuration {key}: TimeBasedPartitioner needs it")
    #: A week's year differs from the year only around New Year, where theirs is wrong: Joda's YYYY is a year of era.
    return {
        "partitioner": ("time", _PARTITIONER),
        "path.format": (_QUOTED_OR_YEAR.sub(_year, path), "path.format"),
        "partition.duration.ms": (duration, "partition.duration.ms"),
    }


def _format(theirs: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Raise ConfigError where their default, a CSV of Base64, is meant."""
    key = "format.output.type"
    if key not in theirs:
        raise ConfigError(key, f"{key} is not given, and its default csv is not supported: use jsonl or parquet")
    if trim(theirs[key]).lower() == "jsonl" and "format.output.envelope" not in theirs:
        key = "format.output.envelope"
        raise ConfigError(key, f"{key} is not given, and its default true is not supported: use false")
    return {"partitioner": ("partition", key)}


CONNECTORS = {
    "io.confluent.connect.s3.S3SinkConnector": ForeignConnector(
        _OURS, _CONFLUENT, {"s3.prefix": "topics", "s3.region": "us-west-2"}, _partitioner
    ),
    "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector": ForeignConnector(
        _OURS, _AIVEN, {"rotate.schedule.interval.ms": "60000"}, _format
    ),
    "io.aiven.kafka.connect.s3.S3SinkConnector": ForeignConnector(
        _OURS, _AIVEN, {"rotate.schedule.interval.ms": "60000"}, _format
    ),
}
