import io
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.connect.api import (
    ConfigError,
    ConnectError,
    ConnectPartition,
    Field,
    RecordError,
    RetriableError,
    Schema,
    SinkColumns,
    Struct,
    Type,
)
from broker.connect.api import schema as types
from broker.connect.plugins.objects.sink import ObjectSinkConnector, ObjectSinkTask
from tests.broker.connect.plugins.runner import SinkContext, sink_record
from tests.examples import examples

PLACE = ConnectPartition("t", 0)
HOUR = 3_600_000
ROW = Schema(
    Type.STRUCT,
    fields=(
        Field("id", types.INT64),
        Field("price", types.decimal_schema(2, True)),
        Field("at", types.timestamp_schema()),
    ),
)


def task_with(root, **props):
    task = ObjectSinkTask()
    task.start({"path": str(root), **{key.replace("_", "."): value for key, value in props.items()}}, SinkContext())
    task.open([PLACE])
    return task


class Files(dict):
    """A store in memory that can lose its network."""

    fails_at = None

    def write(self, name, data):
        if self.fails_at == len(self):
            self.fails_at = None
            raise RetriableError("gone")
        self[name] = data


def lines(files):
    """Offsets of the rows, in the order of the files' first offsets."""
    ordered = sorted(files, key=lambda name: int(name.rsplit("+", 1)[1].split(".")[0]))
    return [json.loads(line)["n"] for name in ordered for line in files[name].splitlines()]


RECORDS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 5 * HOUR)), min_size=1, max_size=40)


@given(RECORDS, st.data())
def test_redelivery_from_any_committed_offset_writes_the_same_files(made, data):
    offset, records = 0, []
    for step, moment in made:
        offset += step  # compacted topics and transactions leave gaps
        records.append(sink_record(offset, {"n": offset}, timestamp_ms=moment))
    props = {"format": "json", "file_max_records": "4", "rotate_interval_ms": str(HOUR // 2)}
    files, committed = Files(), 0
    for _ in range(data.draw(st.integers(1, 4))):  # each is a worker that begins at what was committed, and dies
        task = task_with("/unused", **props)
        task._store = files
        files.fails_at = data.draw(st.none() | st.integers(0, 10))
        begin = next((at for at, record in enumerate(records) if record.offset >= committed), len(records))
        at = begin
        for end in sorted(data.draw(st.lists(st.integers(begin, len(records)), max_size=4))):
            batch, at = records[at:end], max(at, end)
            for _ in range(2):  # the worker brings a batch again that was refused for now
                try:
                    task.put(batch)
                    break
                except RetriableError:
                    continue
            if data.draw(st.booleans()) and batch:
                committed = max(committed, task.pre_commit({PLACE: batch[-1].offset + 1})[PLACE])
    whole = Files()
    task = task_with("/unused", **props)
    task._store = whole
    task.put(records)
    task.pre_commit({PLACE: records[-1].offset + 1})
    assert all(whole[name] == item for name, item in files.items())
    assert [line for line in lines(files) if line < committed] == [
        record.offset for record in records if record.offset < committed
    ]


FIELDS = (
    Field("id", types.INT64),
    Field("item", Schema(Type.STRING, True, default="pear")),
    Field("tags", Schema(Type.ARRAY, True, value_schema=types.STRING)),
)
ITEMS, OTHER = Schema(Type.STRUCT, fields=FIELDS), Schema(Type.STRUCT, name="other", fields=FIELDS)
ROWS = st.lists(
    st.tuples(
        st.integers(1, 3), st.none() | st.integers(0, 3 * HOUR), st.none() | st.text("ab", max_size=40),
        st.none() | st.lists(st.just("x"), max_size=3),
    ), min_size=1, max_size=30,
)  # fmt: skip


def cut(records, ends):
    at = 0
    for end in [*sorted(ends), len(records)]:
        if records[at:end]:
            yield records[at:end]
        at = max(at, end)


def columns_of(records):
    columns = [
        [record.value.values_by_name[field.name] for record in records] for field in records[0].value_schema.fields
    ]
    first = records[0]
    return SinkColumns(
        first.topic, first.partition, [record.offset for record in records],
        [record.timestamp_ms for record in records],
        first.value_schema, columns,
    )  # fmt: skip


@given(ROWS, st.data())
@settings(max_examples=examples(300))
def test_columns_make_the_files_that_records_make_however_they_are_cut_and_brought_again(made, data):
    other_from = data.draw(st.integers(0, len(made)))
    offset, records = 0, []
    for at, (step, moment, item, tags) in enumerate(made):
        offset += step
        schema = OTHER if at >= other_from else ITEMS
        value = Struct(schema, {"id": at, "item": item, "tags": tags})
        records.append(sink_record(offset, value, schema, timestamp_ms=moment))
    props = {
        "file_max_records": data.draw(st.sampled_from(["1", "4", "100"])), "partition_duration_ms": str(HOUR),
        "rotate_interval_ms": data.draw(st.sampled_from(["-1", str(HOUR // 2)])),
    }  # fmt: skip
    bounds = data.draw(st.sampled_from([60, 200, 1_024]))
    stores = Files(), Files()
    for store, is_columns in zip(stores, (False, True), strict=True):
        task = task_with("/unused", **props)
        task._store, task._bounds = store, replace(task._bounds, bytes=bounds)
        store.fails_at = data.draw(st.none() | st.integers(0, 5))
        ends = data.draw(st.lists(st.integers(0, len(records)), max_size=4)) if is_columns else ()
        for batch in cut(records, [*ends, other_from]):
            for _ in range(2):
                try:
                    if is_columns and data.draw(st.integers(0, 4)):
                        task.put_columns(columns_of(batch))
                    else:
                        task.put(batch)
                    break
                except RetriableError:
                    continue
        store.fails_at = None
        task.pre_commit({PLACE: offset + 1})
    assert stores[0].keys() == stores[1].keys()
    assert all(stores[0][name].equals(stores[1][name]) for name in stores[0])


def test_columns_of_a_partition_that_is_not_assigned_are_refused(tmp_path):
    record = sink_record(0, Struct(ITEMS, {"id": 1, "item": "a", "tags": None}), ITEMS, topic="other")
    with pytest.raises(ConnectError, match="may not change topic"):
        task_with(tmp_path).put_columns(columns_of([record]))


def test_typed_records_are_parquet_columns_under_time_topic_and_first_offset(tmp_path):
    from datetime import UTC, datetime
    from decimal import Decimal

    moment = datetime(1970, 1, 1, 5, tzinfo=UTC)
    rows = [Struct(ROW, {"id": index, "price": Decimal("1.50"), "at": moment}) for index in range(3)]
    task = task_with(tmp_path, file_max_records="2")
    task.put([sink_record(offset, row, ROW, timestamp_ms=5 * HOUR) for offset, row in enumerate(rows)])
    assert task.pre_commit({PLACE: 3}) == {PLACE: 2}
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert path.relative_to(tmp_path) == Path("t/year=1970/month=01/day=01/hour=05/t+0+0000000000.parquet")
    read = pyarrow.parquet.ParquetFile(path).read()
    assert read.to_pylist() == [dict(row) for row in rows[:2]]


def test_a_full_disk_is_tried_again_and_leaves_whole_files(tmp_path, monkeypatch):
    task = task_with(tmp_path, format="json", file_max_records="1")
    records = [sink_record(offset, {"n": offset}) for offset in range(2)]
    opens = os.open

    def open_full(path, flags, *args, **kwargs):
        """Every new file is on a full disk, created and without room for a byte."""
        if not flags & os.O_CREAT:
            return opens(path, flags, *args, **kwargs)
        os.close(opens(path, flags, *args, **kwargs))
        return opens("/dev/full", os.O_WRONLY)

    with monkeypatch.context() as full:
        full.setattr(os, "open", open_full)
        with pytest.raises(RetriableError, match="No space left on device"):
            task.put(records)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert len(list(tmp_path.rglob("*.writing"))) == 1
    task.put(records)
    assert task.pre_commit({PLACE: 2}) == {PLACE: 2}
    assert sorted(path.read_text() for path in tmp_path.rglob("*.jsonl")) == ['{"n":0}\n', '{"n":1}\n']
    assert not list(tmp_path.rglob("*.writing"))


def test_a_transform_that_renames_the_topic_is_refused(tmp_path):
    with pytest.raises(ConnectError, match="may not change topic"):
        task_with(tmp_path).put([sink_record(0, {"a": 1}, topic="other")])


def test_a_null_goes_to_the_dead_letters(tmp_path):
    task = task_with(tmp_path, format="json")
    task.put([sink_record(0, None), sink_record(1, {"n": 1})])
    assert [record.offset for record, _ in task._context.errant] == [0]


def poison_rows():
    """A price at offset 9 has more digits than Parquet takes; an offset between is missing."""
    prices = {2: Decimal("1.00"), 3: Decimal("2.00"), 5: None, 9: Decimal(10) ** 40, 10: Decimal("3.00")}
    return [
        sink_record(at, Struct(ROW, {"id": at, "price": price, "at": datetime(2026, 1, 1, tzinfo=UTC)}), ROW)
        for at, price in prices.items()
    ]


@pytest.mark.parametrize("by_columns", [False, True])
def test_of_a_file_that_is_no_parquet_the_record_at_fault_is_named(tmp_path, by_columns):
    task, rows = task_with(tmp_path, file_max_records="5"), poison_rows()
    task.put(rows[:2])
    with pytest.raises(RecordError, match="no Parquet") as raised:
        task.put_columns(columns_of(rows[2:])) if by_columns else task.put(rows[2:])
    assert (raised.value.topic, raised.value.partition, raised.value.offset) == ("t", 0, 9)
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize("moment", [2**62, -(2**62), 253_402_300_800_000])
def test_a_record_of_no_calendar_goes_to_the_dead_letters_or_is_named(tmp_path, moment):
    task = task_with(tmp_path, format="json", file_max_records="1")
    task.put([sink_record(0, {"n": 0}, timestamp_ms=moment), sink_record(1, {"n": 1})])
    assert [record.offset for record, _ in task._context.errant] == [0]
    assert [path.read_text() for path in tmp_path.rglob("*.jsonl")] == ['{"n":1}\n']
    rows = [replace(row, timestamp_ms=moment if row.offset == 3 else 0) for row in poison_rows()[:3]]
    with pytest.raises(RecordError, match="in no year") as raised:
        task_with(tmp_path).put_columns(columns_of(rows))
    assert raised.value.offset == 3


def test_of_a_file_that_is_no_json_the_record_at_fault_is_named(tmp_path):
    task = task_with(tmp_path, format="json", file_max_records="3")
    with pytest.raises(RecordError, match="no JSON") as raised:
        task.put([sink_record(4, 1), sink_record(5, {"n": 2**70}), sink_record(7, "x")])
    assert raised.value.offset == 5


@pytest.mark.parametrize("path", ["'../'yyyy", "Q"])
def test_a_path_that_leads_out_is_refused(tmp_path, path):
    with pytest.raises(ConfigError):
        task_with(tmp_path, path_format=path)


def test_validation_wants_one_place():
    errors = {item.name: item.errors for item in ObjectSinkConnector().validate({}) if item.errors}
    assert list(errors) == ["path"]


@pytest.fixture
def s3(monkeypatch):
    boto3 = pytest.importorskip("boto3")
    from moto.server import ThreadedMotoServer

    for name in ("AWS_EC2_METADATA_DISABLED",):
        monkeypatch.setenv(name, "true")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    address = f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    client = boto3.client(
        "s3", endpoint_url=address, aws_access_key_id="a", aws_secret_access_key="b", region_name="us-east-1"
    )
    client.create_bucket(Bucket="barnabas")
    yield address, client
    server.stop()


def test_a_bucket_holds_the_same_names(s3):
    address, client = s3
    props = {
        "s3.bucket": "barnabas",
        "s3.prefix": "in",
        "s3.endpoint": address,
        "s3.region": "us-east-1",
        "s3.access.key": "a",
        "s3.secret.key": "b",
        "format": "json",
        "file.max.records": "2",
    }
    task = ObjectSinkTask()
    task.start(props, SinkContext())
    task.open([PLACE])
    task.put([sink_record(offset, {"n": offset}) for offset in range(2)])
    task.pre_commit({PLACE: 2})
    (first,) = client.list_objects_v2(Bucket="barnabas")["Contents"]
    assert first["Key"] == "in/t/year=1970/month=01/day=01/hour=00/t+0+0000000000.jsonl"


def test_the_clock_ends_files_of_a_topic_that_falls_silent():
    clock = ManualMs()
    task = ObjectSinkTask(clock)
    context = SinkContext()
    task.start({"path": "/unused", "format": "json", "rotate.schedule.interval.ms": "60000"}, context)
    task._store = files = Files()
    task.open([PLACE])
    task.put([sink_record(0, {"n": 0}), sink_record(1, {"n": 1})])
    clock.now_ms += 59_999
    task.put([])
    assert files == {}
    assert task.pre_commit({PLACE: 2}) == {PLACE: 0}
    clock.now_ms += 1
    task.put([])
    assert lines(files) == [0, 1]
    assert context.commits_requested == 1
    assert task.pre_commit({PLACE: 2}) == {PLACE: 2}


class ManualMs:
    now_ms = 60_000 * 1_000

    def __call__(self):
        return self.now_ms


def test_without_a_schedule_no_clock_ends_a_file():
    clock = ManualMs()
    task = ObjectSinkTask(clock)
    task.start({"path": "/unused", "format": "json"}, SinkContext())
    task._store = files = Files()
    task.open([PLACE])
    task.put([sink_record(0, {"n": 0})])
    clock.now_ms += 10 * 24 * HOUR
    task.put([])
    assert files == {}


def test_directories_are_of_the_partition_where_they_are_not_of_time(tmp_path):
    task = task_with("/unused", format="json", partitioner="partition", file_max_records="2")
    task._store = files = Files()
    task.put([sink_record(0, {"n": 0}, timestamp_ms=0), sink_record(1, {"n": 1}, timestamp_ms=99 * HOUR)])
    assert list(files) == ["t/partition=0/t+0+0000000000.jsonl"]


def test_a_file_of_avro_is_read_by_others_with_its_types():
    task = task_with("/unused", format="avro", file_max_records="2")
    task._store = files = Files()
    at = datetime(2024, 1, 2, tzinfo=UTC)
    rows = [
        Struct(ROW, {"id": number, "price": price, "at": at}) for number, price in ((1, Decimal("1.50")), (2, None))
    ]
    task.put([sink_record(offset, row, ROW) for offset, row in enumerate(rows)])
    (name,) = files
    assert name.endswith("t+0+0000000000.avro")
    assert list(fastavro.reader(io.BytesIO(files[name]))) == [
        {"id": 1, "price": Decimal("1.50"), "at": at},
        {"id": 2, "price": None, "at": at},
    ]


def test_avro_needs_a_schema():
    task = task_with("/unused", format="avro", file_max_records="1")
    with pytest.raises(RecordError, match="without a schema"):
        task.put([sink_record(0, {"n": 0})])


def test_null_values_are_left_out_where_they_may_be():
    task = task_with("/unused", format="json", file_max_records="1", behavior_on_null_values="ignore")
    task._store = files = Files()
    task.put([sink_record(0, None), sink_record(1, {"n": 1})])
    assert lines(files) == [1]
    assert task._context.errant == []


@pytest.mark.parametrize("value", ["0", "999", "-2"])
def test_a_schedule_that_is_none_is_refused(value):
    values = ObjectSinkConnector().validate({"path": "/tmp/x", "rotate.schedule.interval.ms": value})
    assert [item.name for item in values if item.errors] == ["rotate.schedule.interval.ms"]
