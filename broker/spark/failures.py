"""Why a query ended, read from what Spark says of it: whether waiting mends it, or only a person can. Pure.

Spark tells of a failure as one text, in which tracebacks of Python name the exceptions of this package.
"""

from enum import Enum

REASON_LENGTH_MAX = 4_000


class Cure(Enum):
    """What makes the next try worth while."""

    #: Something it needs is away or somebody else was quicker: nothing is wrong with the job or its data.
    WAITING = "waiting"
    #: Nothing but a change to the job, its checkpoint or its topics.
    A_PERSON = "a person"
    #: Not known: a new process may do better.
    A_NEW_DRIVER = "a new driver"


_BY_A_PERSON = (
    "DataLossError: ",
    "DecisionsError: ",
    "LostPartError: ",
    "OldCheckpointError: ",
    "RecordTooLargeError: ",
    "TooManyTasksError: ",
)
_BY_WAITING = ("TimeoutError: ", "BrokerUnreachable: ", "SinkError: ")


def cure_of(failure: str) -> Cure:
    for names, cure in ((_BY_A_PERSON, Cure.A_PERSON), (_BY_WAITING, Cure.WAITING)):
        if any(name in failure for name in names):
            return cure
    return Cure.A_NEW_DRIVER


def reason_of(failure: str) -> str:
    """The line of a traceback that says it; the whole text where none is of this package."""
    named = [line.strip() for line in failure.splitlines() if any(name in line for name in _BY_A_PERSON + _BY_WAITING)]
    return (named[-1] if named else failure)[:REASON_LENGTH_MAX]
