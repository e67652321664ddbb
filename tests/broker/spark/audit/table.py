"""The compacted topic of windows, as somebody finds it who reads it; and the ledger it is compared with."""

from dataclasses import fields

import orjson

from broker.audit.ledger import Ledger
from broker.audit.tally import Tally
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
        said = [each for each in self.records.values() if "tier" in each]
        names = [each.name for each in fields(Tally)]
        return {
            (each["window"], each["tier"], each["source"]): (Tally(*(each[name] for name in names)), each["partitions"])
            for each in said
        }

    def verdicts(self):
        said = [each for each in self.records.values() if "state" in each]
        return {
            each["window"]: (each["state"], [_finding(each["window"], one) for one in each["findings"]])
            for each in said
        }


def _finding(window, said):
    return Finding("", window, **{**said, "partitions": tuple(said["partitions"])})


def ledger_of(told):
    ledger = Ledger()
    for each in told:
        ledger.add(each)
    return ledger
