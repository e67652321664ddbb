"""Connectors that throw where they are told to, and one whose worker dies in the midst of what it commits."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

from broker.connect.api import (
    ConfigDef,
    ConfigKey,
    Schema,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceRecord,
    SourceTask,
    Type,
)

TEXT = Schema(Type.STRING)
CONFIG = ConfigDef(ConfigKey("throws.in", default=""), ConfigKey("while", default=""), ConfigKey("topic", default=""))
CLASSES = ("ThrowingSource", "ThrowingSink", "DyingSource")


def entry_points_below(directory: Path) -> str:
    """What pip leaves of a package with these; the directory is for PYTHONPATH."""
    info = directory / "awkward-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: awkward\nVersion: 1\n")
    lines = [f"{name} = {__name__}:{name}" for name in CLASSES]
    (info / "entry_points.txt").write_text("\n".join(["[barnabas.connect]", *lines]))
    return str(directory)


def throw_if_told(props, where):
    if props.get("throws.in") == where and Path(props["while"]).exists():
        raise LookupError(f"thrown in {where}")


class ThrowingSourceTask(SourceTask):
    def start(self, props, context):
        self._props = props
        self._partition = {"source": "numbers"}
        self._count = (context.offset_reader.offset(self._partition) or {"count": 0})["count"]
        throw_if_told(props, "task.start")

    def poll(self):
        throw_if_told(self._props, "poll")
        if self._count == 3:
            return []
        self._count += 1
        place = {"count": self._count}
        return [SourceRecord(self._partition, place, self._props["topic"], None, None, None, TEXT, f"{self._count}")]

    def stop(self):
        return


class ThrowingSource(SourceConnector):
    task_class = ThrowingSourceTask
    CONFIG = CONFIG

    def start(self, props, context):
        self._props = dict(props)
        throw_if_told(props, "start")

    def task_configs(self, max_tasks):
        return [self._props]


class ThrowingSinkTask(SinkTask):
    def start(self, props, context):
        self._props = props

    def put(self, records):
        throw_if_told(self._props, "put")

    def flush(self, offsets):
        throw_if_told(self._props, "flush")

    def stop(self):
        return


class ThrowingSink(SinkConnector):
    task_class = ThrowingSinkTask
    CONFIG = CONFIG

    def start(self, props, context):
        self._props = dict(props)

    def task_configs(self, max_tasks):
        return [self._props]


class _Deadly(Mapping):
    """An offset in whose writing the worker is killed, once."""

    def __init__(self, offset, marker):
        self._offset, self._marker = offset, Path(marker)

    def __getitem__(self, key):
        return self._offset[key]

    def __len__(self):
        return len(self._offset)

    def __iter__(self):
        if self._marker.exists():
            self._marker.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return iter(self._offset)


class DyingSourceTask(SourceTask):
    """Two partitions with ten numbers each; the offset of the second is the deadly one."""

    def start(self, props, context):
        self._props = props
        self._read = {
            name: (context.offset_reader.offset({"source": name}) or {"count": 0})["count"] for name in ("a", "b")
        }

    def poll(self):
        records = []
        for name, count in self._read.items():
            if count < 10:
                self._read[name] = count + 1
                offset = {"count": count + 1}
                if name == "b":
                    offset = _Deadly(offset, self._props["while"])
                place = {"source": name}
                records.append(
                    SourceRecord(place, offset, self._props["topic"], 0, None, None, TEXT, f"{name}{count + 1}")
                )
        return records

    def stop(self):
        return


class DyingSource(ThrowingSource):
    task_class = DyingSourceTask

    def exactly_once_support(self, props):
        return True
