"""The message audit's increments and its verdict, in the words of who counts."""

from broker.audit.groups import GroupMove
from broker.audit.increment import ASIDES, AUDIT_TOPIC, BadIncrement, Increment, Tier
from broker.audit.latency import BUCKET_MAX, Latency
from broker.audit.ledger import Ledger
from broker.audit.report import clock, sentence, told_move
from broker.audit.states import TROUBLES, State
from broker.audit.tally import NO_WINDOW, Tally
from broker.audit.verdict import Finding, Verdict, judge

__all__ = [
    "ASIDES",
    "AUDIT_TOPIC",
    "BUCKET_MAX",
    "NO_WINDOW",
    "TROUBLES",
    "BadIncrement",
    "Finding",
    "GroupMove",
    "Increment",
    "Latency",
    "Ledger",
    "State",
    "Tally",
    "Tier",
    "Verdict",
    "clock",
    "judge",
    "sentence",
    "told_move",
]
