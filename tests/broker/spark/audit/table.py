"""The compacted topic of windows, as somebody finds it who reads it; and the ledger it is compared with."""

from dataclasses import fields

import orjson

from broker.audit.ledger import AuditState
from broker.audit.tally import RecordTally
from broker.audit.verdict import Finding


class Table:
    """The compacted topic, as somebody finds it who reads it."""

    def __init__(self):
        self.records = {}

    def write(self, rows):
        for key, value in rows:
            if value is None:
                self.records.pop(key, None)
            else:
                self.records[key] = orjson.loads(value)

    def rows(self):
        items = [record for record in self.records.values() if "tier" in record]
        names = [field.name for field in fields(RecordTally)]
        return {
            (item["window"], item["tier"], item["source"]): (
                RecordTally(*(item[name] for name in names)),
                item["partitions"],
            )
            for item in items
        }

    def verdicts(self):
        items = [record for record in self.records.values() if "state" in record]
        return {
            task["window"]: (task["state"], [_finding(task["window"], one) for one in task["findings"]])
            for task in items
        }


def _finding(window, fields):
    return Finding("", window, **{**fields, "partitions": tuple(fields["partitions"])})


def ledger_of(increments):
    ledger = AuditState()
    for item in increments:
        ledger.add(item)
    return ledger
