"""A source to begin with: it counts, and goes on counting where it was when it is started again."""

EXAMPLE = '"topic": "numbers"'

CONNECTOR = '''"""@class@: what it reads, in one sentence."""

import threading
import time

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, Schema, SourceConnector, SourceRecord, SourceTask, Type
from broker.connect.api.config import between, not_empty

TEXT = Schema(Type.STRING)


class @task@(SourceTask):
    """Reads one part of the source. Runs on a thread of its own; only `stop` comes from another."""

    def __init__(self):
        self._stopped = threading.Event()

    def start(self, props, context):
        values = @class@.CONFIG.parse(props)
        self._topic, self._text, self._interval_s = values["topic"], values["text"], values["interval.ms"] / 1000
        # What is read, and how far: JSON objects that only this connector understands. The worker stores the second.
        self._partition = {"source": "counter"}
        self._count = (context.offset_reader.offset(self._partition) or {"count": 0})["count"]

    def poll(self):
        """New records, a bounded number; returns within a second also when there are none."""
        if self._stopped.wait(min(self._interval_s, 1.0)):
            return []
        self._count += 1
        value, now_ms = f"{self._text} {self._count}", time.time_ns() // 1_000_000
        # The offset is the place behind the record: who starts again goes on there, and nothing is lost or doubled.
        place = {"count": self._count}
        return [SourceRecord(self._partition, place, self._topic, None, None, None, TEXT, value, now_ms)]

    def stop(self):
        self._stopped.set()


class @class@(SourceConnector):
    """Shown to whoever configures one: what it reads."""

    task_class = @task@
    # Types, defaults, checks and documentation of each key: the form, the validation and the page come from it.
    CONFIG = ConfigDef(
        ConfigKey("topic", documentation="Where records go.", validator=not_empty),
        ConfigKey("text", default="number", documentation="What each record begins with."),
        ConfigKey("interval.ms", ConfigType.INT, 1_000, documentation="Between two.", validator=between(1, 1_000)),
    )

    def start(self, props, context):
        self.CONFIG.parse(props)
        self._props = dict(props)

    def task_configs(self, max_tasks):
        """What each task is started with; this source has one part, and so one task."""
        return [self._props]

    def exactly_once_support(self, props):
        """Whether each record has an offset from which it can be repeated exactly (KIP-618)."""
        return True
'''

TEST = '''from @name@.connector import @class@


class Context:
    """What the worker hands to a task, with stored offsets in plain sight."""

    def __init__(self, stored=None):
        self.stored = stored
        self.offset_reader = self
        self.transaction_context = None

    def offset(self, partition):
        return self.stored


PROPS = {"topic": "numbers", "interval.ms": "1"}


def started(context):
    connector = @class@()
    connector.start(PROPS, None)
    (props,) = connector.task_configs(1)
    task = connector.task_class()
    task.start(props, context)
    return task


def test_a_task_goes_on_behind_the_offset_that_was_stored():
    (first,) = started(Context()).poll()
    (second,) = started(Context(first.source_offset)).poll()
    assert [first.value, second.value] == ["number 1", "number 2"]
    assert first.topic == "numbers"


def test_a_stopped_task_gives_nothing_more():
    task = started(Context())
    task.stop()
    assert task.poll() == []


def test_a_configuration_that_cannot_be_right_is_told_at_its_key():
    wrong = {each.name: each.errors for each in @class@().validate({"interval.ms": "0"}) if each.errors}
    assert set(wrong) == {"topic", "interval.ms"}
'''
