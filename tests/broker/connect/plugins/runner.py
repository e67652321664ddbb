"""Runs one task as the worker does, with its stored offsets and its partitions in plain sight."""

import json

from broker.connect.api import ConnectPartition, SinkRecord


class SourceContext:
    """A source task's context that is its own offset reader."""

    transaction_context = None

    def __init__(self, stored=()):
        self.stored = {json.dumps(partition, sort_keys=True): offset for partition, offset in stored}

    @property
    def offset_reader(self):
        return self

    def offset(self, partition):
        return self.stored.get(json.dumps(partition, sort_keys=True))

    def offsets(self, partitions):
        return [self.offset(partition) for partition in partitions]

    def store(self, records):
        """Offsets as they come back from the offsets topic: through JSON."""
        for record in records:
            key = json.dumps(dict(record.source_partition), sort_keys=True)
            self.stored[key] = json.loads(json.dumps(dict(record.source_offset)))


class SinkContext:
    def __init__(self):
        self.errant = []
        self.timeouts = []
        self.commits_requested = 0
        self.rewound = {}

    def assignment(self):
        return {ConnectPartition("t", 0)}

    def offset(self, offsets):
        self.rewound.update(offsets)

    def timeout(self, timeout_ms):
        self.timeouts.append(timeout_ms)

    def pause(self, *partitions):
        pass

    resume = pause

    def request_commit(self):
        self.commits_requested += 1

    @property
    def errant_record_reporter(self):
        return self

    def report(self, record, error):
        self.errant.append((record, error))


def started(task, props, context):
    task.start(props, context)
    return task


def polled(task, count, polls=100):
    """At least so many records, however many polls it takes, up to a bound."""
    records = []
    for _ in range(polls):
        records += task.poll()
        if len(records) >= count:
            break
    return records


def sink_record(offset, value, value_schema=None, topic="t", partition=0, key=None, key_schema=None, timestamp_ms=0):
    return SinkRecord(topic, partition, offset, key_schema, key, value_schema, value, timestamp_ms)
