"""The sink of Parquet and JSON-lines files: `<time>/<topic>+<partition>+<first offset>`, each record in them once.

Offsets are committed at the ends of files only. Who starts again begins where a file began, makes the same file of the
same records under the same name, and so replaces what a crash may have left. With `rotate.schedule.interval.ms` the
clock ends files, too: what two of them had before a crash may then come again in one, beside the second.
"""

import re
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from broker.connect.api import (
    ConfigDef,
    ConfigError,
    ConfigKey,
    ConfigType,
    ConfigValue,
    ConnectError,
    ConnectPartition,
    DataError,
    Importance,
    RecordError,
    SinkColumns,
    SinkRecord,
    SinkTask,
    SinkTaskContext,
)
from broker.connect.api.config import OneOf, between
from broker.connect.api.plugin import ConnectorContext, Props
from broker.connect.plugins.objects.formats import ENCODERS, EXTENSIONS, fault_in
from broker.connect.plugins.objects.open_file import ColumnStretch, ObjectFile, RollBounds, begun_with, size_of
from broker.connect.plugins.objects.store import Bucket, ObjectDirectory, ObjectStore
from broker.connect.plugins.own_props import GroupSink
from broker.connect.plugins.paths import is_writable_path
from broker.connect.transforms.patterns import date_format

_MIB = 1024 * 1024


def _is_path_format(name: str, value: str) -> None:
    """Validate the path format: its own text may not contain ".."; what stands for time is digits and names."""
    if ".." in date_format(name, value).format(0).split("/"):
        raise ConfigError(name, f"Invalid value {value} for configuration {name}: it leads out")


#: From the first moment of the year 1 to the last of 9999: directories are called after it.
_MOMENTS_MS = range(-62_135_596_800_000, 253_402_300_800_000)
#: A file for each record would be no file format.
SCHEDULE_MS_MIN = 1_000
#: A stretch with all moments in it.
FOREVER_MS = 1 << 62
_NO_YEAR = "Its timestamp is in no year of four digits, after which its directory could be called"


def _has_a_year(timestamp_ms: int | None) -> bool:
    return timestamp_ms is None or timestamp_ms in _MOMENTS_MS


class ObjectSinkTask(SinkTask):
    def __init__(self, now_ms: Callable[[], int] = lambda: int(time.time() * 1000)) -> None:
        self._now_ms = now_ms
        self._open: dict[ConnectPartition, ObjectFile] = {}
        self._next: dict[ConnectPartition, int] = {}
        self._assigned: set[ConnectPartition] = set()

    def start(self, props: Props, context: SinkTaskContext) -> None:
        values = ObjectSinkConnector.CONFIG.parse(props)
        self._context = context
        self._is_by_time = values["partitioner"].lower() == "time"
        self._bounds = RollBounds(
            values["file.max.records"],
            values["file.max.bytes"],
            values["rotate.interval.ms"],
            values["partition.duration.ms"] if self._is_by_time else FOREVER_MS,
            values["rotate.schedule.interval.ms"],
        )
        self._format = values["format"].lower()
        self._skips_nulls = values["behavior.on.null.values"].lower() == "ignore"
        self.takes_columns = self._format == "parquet"
        self._path = date_format("path.format", values["path.format"])
        self._store = store_of(values)

    def open(self, partitions: Collection[ConnectPartition]) -> None:
        self._assigned.update(partitions)

    def close(self, partitions: Collection[ConnectPartition]) -> None:
        """Discard open files: their offsets were not committed, so the next task writes them again."""
        for partition in partitions:
            self._assigned.discard(partition)
            self._open.pop(partition, None)
            self._next.pop(partition, None)

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write the batch.

        One that is delivered again after RetriableError continues behind the last written record.
        """
        for record in records:
            place = self._assigned_place(record)
            if record.offset >= self._next.get(place, 0):
                self._add(place, record)
        self._write_full_ones()

    def _add(self, place: ConnectPartition, record: SinkRecord) -> None:
        if record.value is None:
            if not self._skips_nulls:
                self._give_up(record, "A null value cannot be a row")
            self._next[place] = record.offset + 1
            return
        if not _has_a_year(record.timestamp_ms):
            self._give_up(record, _NO_YEAR)
            return
        size, current = size_of(record.value), self._open.get(place)
        if current is not None and not current.takes(record.timestamp_ms or 0, record.value_schema, size, self._bounds):
            self._write(place, current)
            current = None
        if current is None:
            current = self._begun(place, begun_with(record, self._bounds))
        current.add(record.offset, record.value, size)
        self._next[place] = record.offset + 1

    def put_columns(self, columns: SinkColumns) -> None:
        """Put whole columns; they give the same files as single records."""
        place = self._assigned_place(columns)
        for offset, moment in zip(columns.offsets, columns.timestamps_ms, strict=True):
            if not _has_a_year(moment):
                raise RecordError(columns.topic, columns.partition, offset, _NO_YEAR)
        coming = ColumnStretch(columns, bisect_left(columns.offsets, self._next.get(place, 0)))
        while coming:
            current = self._open.get(place)
            if current is None:
                self._begun(place, coming.begins(self._bounds))
            else:
                before = coming.at
                coming.flows_into(current, self._bounds)
                if coming.at == before:
                    self._write(place, current)
                    continue
            self._next[place] = columns.offsets[coming.at - 1] + 1
        self._write_full_ones()

    def _begun(self, place: ConnectPartition, file: ObjectFile) -> ObjectFile:
        file.opened_ms = self._now_ms()
        self._open[place] = file
        return file

    def _assigned_place(self, read: SinkRecord | SinkColumns) -> ConnectPartition:
        place = ConnectPartition(read.topic, read.partition)
        if place not in self._assigned:
            self._refuse(place)
        return place

    def _give_up(self, record: SinkRecord, why: str) -> None:
        """Report the record; without a reporter the task fails rather than lose it in silence."""
        error = RecordError(record.topic, record.partition, record.offset, why)
        if self._context.errant_record_reporter is None:
            raise error
        self._context.errant_record_reporter.report(record, error)
        self._next[ConnectPartition(record.topic, record.partition)] = record.offset + 1

    def _write_full_ones(self) -> None:
        now_ms = self._now_ms()
        for place, file in tuple(self._open.items()):
            if file.is_full(self._bounds):
                self._write(place, file)
            elif file.is_due(now_ms, self._bounds):
                self._write(place, file)
                self._context.request_commit()

    def _write(self, place: ConnectPartition, file: ObjectFile) -> None:
        encode = ENCODERS[self._format]
        directory = self._path.format(file.bucket_ms) if self._is_by_time else f"partition={file.partition}"
        name = f"{file.topic}/{directory}/{file.name}{EXTENSIONS[self._format]}"
        try:
            data = encode(file)
        except DataError as error:
            raise RecordError(file.topic, file.partition, fault_in(file, encode), str(error)) from error
        self._store.write(name, data)
        del self._open[place]

    @staticmethod
    def _refuse(place: ConnectPartition) -> None:
        raise ConnectError(
            f"A record of {place.topic}-{place.partition}, which is not assigned: a transform may not change topic or "
            "partition here, because files are named after the offsets of one partition."
        )

    def pre_commit(self, offsets: Mapping[ConnectPartition, int]) -> Mapping[ConnectPartition, int]:
        """Return offsets to commit; open files hold theirs back."""
        done = {place: self._open[place].first_offset for place in self._open}
        return {place: min(done.get(place, offset), offset) for place, offset in offsets.items()}

    def stop(self) -> None:
        self._open.clear()


def store_of(values: Mapping[str, Any]) -> ObjectStore:
    if not values["s3.bucket"]:
        if not values["path"]:
            raise ConfigError("path", "Either path or s3.bucket says where files go")
        return ObjectDirectory(values["path"])
    settings: dict[str, Any] = {"connect_timeout": 10, "request_timeout": 60}
    if values["s3.endpoint"]:
        scheme, _, host = values["s3.endpoint"].partition("://")
        settings |= {"endpoint_override": host, "scheme": scheme, "force_virtual_addressing": False}
    if values["s3.region"]:
        settings["region"] = values["s3.region"]
    if values["s3.access.key"]:
        settings |= {"access_key": values["s3.access.key"], "secret_key": values["s3.secret.key"].value}
    return Bucket(values["s3.bucket"], values["s3.prefix"], settings)


def _is_endpoint(name: str, value: str) -> None:
    if value and not re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+", value):
        raise ConfigError(name, f"Invalid value for configuration {name}: it must be http:// or https:// and a host")


def is_schedule(name: str, value: int) -> None:
    if value != -1 and value < SCHEDULE_MS_MIN:
        raise ConfigError(
            name, f"Invalid value {value} for configuration {name}: at least {SCHEDULE_MS_MIN}, or -1 for never"
        )


_FORMAT = OneOf("parquet", "json", "avro")
_BY, _NULLS = OneOf("time", "partition"), OneOf("fail", "ignore")
_S3 = "S3"


class ObjectSinkConnector(GroupSink):
    """Parquet, Avro or JSON-lines files in a directory or an S3 bucket; exactly once."""

    task_class = ObjectSinkTask
    CONFIG = ConfigDef(
        ConfigKey("format", default="parquet", documentation="Of files.", validator=_FORMAT, recommender=_FORMAT),
        ConfigKey("path", default="", documentation="The directory of the files.", validator=is_writable_path),
        ConfigKey(
            "s3.bucket", default="", documentation="The bucket of the files, in place of a directory.", group=_S3
        ),
        ConfigKey("s3.prefix", default="", documentation="What the names of objects begin with.", group=_S3),
        ConfigKey("s3.endpoint", default="", documentation="Another than Amazon's.", validator=_is_endpoint, group=_S3),
        ConfigKey("s3.region", default="", documentation="The bucket's region.", group=_S3),
        ConfigKey("s3.access.key", default="", documentation="Empty: what the environment says.", group=_S3),
        ConfigKey("s3.secret.key", ConfigType.PASSWORD, None, documentation="Secret of the access key.", group=_S3),
        ConfigKey(
            "partitioner",
            default="time",
            documentation="Directories: of stretches of time, or `partition=N` of the topic's partition.",
            validator=_BY,
            recommender=_BY,
        ),
        ConfigKey(
            "path.format",
            default="'year='yyyy/'month='MM/'day='dd/'hour='HH",
            documentation="Directory of a stretch of time, as SimpleDateFormat, in UTC.",
            validator=_is_path_format,
        ),
        ConfigKey(
            "partition.duration.ms",
            ConfigType.LONG,
            3_600_000,
            documentation="How long a stretch is; by the records' timestamps.",
            validator=between(1_000),
        ),
        ConfigKey(
            "file.max.records",
            ConfigType.INT,
            100_000,
            Importance.HIGH,
            "Records of a file. They are in memory until it is written.",
            between(1, 10_000_000),
        ),
        ConfigKey(
            "file.max.bytes",
            ConfigType.LONG,
            64 * _MIB,
            documentation="About the bytes of its records, uncompressed.",
            validator=between(1_024, 1_024 * _MIB),
        ),
        ConfigKey(
            "rotate.interval.ms",
            ConfigType.LONG,
            -1,
            documentation="Start a new file when a record is newer than the file's first by this time; -1: never.",
        ),
        ConfigKey(
            "rotate.schedule.interval.ms",
            ConfigType.LONG,
            -1,
            documentation="Files also end by the clock, as often as this; at least once instead of exactly. -1: never.",
            validator=is_schedule,
        ),
        ConfigKey(
            "behavior.on.null.values",
            default="fail",
            documentation="fail: a null value is a failed record, for the dead letters; ignore: it is left out.",
            validator=_NULLS,
            recommender=_NULLS,
        ),
    )

    def start(self, props: Props, context: ConnectorContext) -> None:
        values = self.CONFIG.parse(props)
        if not values["path"] and not values["s3.bucket"]:
            raise ConfigError("path", "Either path or s3.bucket says where files go")
        self._props = dict(props)

    def validate(self, props: Props) -> list[ConfigValue]:
        values = super().validate(props)
        by_name = {value.name: value for value in values}
        if not by_name["path"].value and not by_name["s3.bucket"].value:
            by_name["path"].errors.append("Either path or s3.bucket says where files go")
        if by_name["s3.access.key"].value and by_name["s3.secret.key"].value is None:
            by_name["s3.secret.key"].errors.append("s3.access.key needs its secret")
        return values
