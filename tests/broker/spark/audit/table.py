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
        said = [record for record in self.records.values() if "tier" in record]
        names = [field.name for field in fields(RecordTally)]
        return {
            (item["window"], item["tier"], item["source"]): (
                RecordTally(*(item[name] for name in names)),
                item["partitions"],
            )
            for item in said
        }

    def verdicts(self):
        said = [record for record in self.records.values() if "state" in record]
        return {
            task["window"]: (task["state"], [_finding(task["window"], one) for one in task["findings"]])
            for task in said
        }


def _finding(window, said):
    return Finding("", window, **{**said, "partitions": tuple(said["partitions"])})


def ledger_of(told):
    ledger = AuditState()
    for item in told:
        ledger.add(item)
    return ledger
