"""A sink to begin with: it prints what it is given into the worker's log, and tells the worker what is safe."""

EXAMPLE = '"topics": "numbers"'

CONNECTOR = '''"""@class@: where it writes to, in one sentence."""

import sys

from broker.connect.api import ConfigDef, ConfigKey, ConfigType, ConnectError, SinkConnector, SinkTask
from broker.connect.api.config import between


class @task@(SinkTask):
    """Is given the records of some partitions. All calls come from one thread."""

    def start(self, props, context):
        values = @class@.CONFIG.parse(props)
        self._prefix, self._length_max = values["prefix"], values["length.max"]

    def put(self, records):
        """In the order of each partition; the same records come again if this raises RetriableError."""
        for record in records:
            line = f"{self._prefix} {record.value}"
            if len(line) > self._length_max:
                raise ConnectError(f"{record.topic}-{record.partition} offset {record.offset}: too long to be written")
            print(line)

    def flush(self, offsets):
        """Everything put so far is safe when this returns; only then its offsets are committed."""
        sys.stdout.flush()

    def stop(self):
        """Give back what `start` took."""


class @class@(SinkConnector):
    """Shown to whoever configures one: where it writes to."""

    task_class = @task@
    # Types, defaults, checks and documentation of each key: the form, the validation and the page come from it.
    CONFIG = ConfigDef(
        ConfigKey("prefix", default="record", documentation="What each line begins with."),
        ConfigKey("length.max", ConfigType.INT, 10_000, documentation="Longer ones fail.", validator=between(1)),
    )

    def start(self, props, context):
        self.CONFIG.parse(props)
        self._props = dict(props)

    def task_configs(self, max_tasks):
        """What each task is started with; the worker shares the partitions of the topics among them."""
        return [self._props for _ in range(max_tasks)]
'''

TEST = """import pytest
from broker.connect.api import ConnectError, SinkRecord

from @name@.connector import @class@


def record(offset, value):
    return SinkRecord("numbers", 0, offset, None, None, None, value)


def started(**props):
    connector = @class@()
    connector.start(props, None)
    (props,) = connector.task_configs(1)
    task = connector.task_class()
    task.start(props, None)
    return task


def test_records_are_written_in_their_order(capsys):
    task = started(prefix=">")
    task.put([record(0, "a"), record(1, "b")])
    assert task.pre_commit({("numbers", 0): 2}) == {("numbers", 0): 2}
    assert capsys.readouterr().out == "> a\\n> b\\n"


def test_what_cannot_be_written_ends_the_task_and_names_its_place():
    with pytest.raises(ConnectError, match="numbers-0 offset 7"):
        started(**{"length.max": "3"}).put([record(7, "long")])


def test_a_configuration_that_cannot_be_right_is_told_at_its_key():
    wrong = {each.name for each in @class@().validate({"length.max": "0"}) if each.errors}
    assert wrong == {"length.max"}
"""
