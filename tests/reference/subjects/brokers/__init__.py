"""Dialogues with a broker of ours and with one of Kafka's."""

from collections.abc import Callable
from random import Random

from tests.reference.comparison import Subject
from tests.reference.dialogues.pieces import pieces, smaller
from tests.reference.dialogues.sides import BROKERS as _BROKERS
from tests.reference.dialogues.sides import outcome_of_ours
from tests.reference.subjects.brokers import (
    access,
    configs,
    features,
    groups,
    placement,
    records,
    refused,
    topics,
    transactions,
)


def _subject(name: str, make: Callable[[Random], list[dict]], cases: int) -> Subject:
    return Subject(
        f"brokers_{name}",
        lambda drawn: {"op": "dialogue", "steps": make(drawn)},
        outcome_of_ours,
        cases,
        _BROKERS,
        pieces,
        smaller,
    )


BROKERS = [
    _subject("topics", topics.dialogue, 300),
    _subject("acls", access.acls, 200),
    _subject("quotas", access.quotas, 200),
    _subject("credentials", access.credentials, 200),
    _subject("tokens", access.tokens, 40),
    _subject("refused", refused.dialogue, 200),
    _subject("groups", groups.dialogue, 300),
    _subject("transactions", transactions.dialogue, 300),
    _subject("placement", placement.dialogue, 200),
    _subject("configs", configs.dialogue, 300),
    _subject("records", records.dialogue, 300),
]
#: Their differences are not all listed yet.
UNJUDGED_BROKERS = [_subject("features", features.dialogue, 100)]
