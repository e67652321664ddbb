"""Why a query ended, read from what Spark says of it: whether waiting mends it, or only a person can. Pure.

Spark tells of a failure as one text, in which tracebacks of Python name the exceptions of this package. A person is
shown one sentence of it; the text stays in the log.
"""

import re
from enum import Enum

REASON_LENGTH_MAX = 500


class Cure(Enum):
    """What makes the next try worth while."""

    #: Something it needs is away or somebody else was quicker: nothing is wrong with the job or its data.
    WAITING = "waiting"
    #: Nothing but a change to the job, its checkpoint or its topics.
    A_PERSON = "a person"
    #: Not known: a new process may do better.
    A_NEW_DRIVER = "a new driver"


_BY_A_PERSON = (
    "DataLossError",
    "ClientConfigError",
    "DecisionsError",
    "LoginRefused",
    "LostPartError",
    "NotTrusted",
    "OldCheckpointError",
    "RecordTooLargeError",
    "TooManyTasksError",
)
_BY_WAITING = ("TimeoutError", "BrokerUnreachable", "SinkError")
#: Spark's word for a worker that took longer than the ten seconds it has; no setting of Spark's gives it more.
_SLOW_WORKER = "Python worker failed to connect back"
_SLOW_WORKER_REASON = "a Python worker of Spark did not start within the ten seconds that Spark gives it"
#: Names of exceptions in Python's tracebacks and Java's, each with what it says up to the end of the line.
_EXCEPTION = re.compile(
    r"(?:\w+[.$])*(?P<name>\w+(?:Error|Exception|Unreachable)|LoginRefused|NotTrusted)\b: (?=(?P<said>\S.*))"
)

#: They wrap what went wrong.
_WRAPPERS = ("ForeachBatchUserFuncException", "Py4JException", "SparkException", "StreamingQueryException")


def cure_of(failure: str) -> Cure:
    for names, cure in ((_BY_A_PERSON, Cure.A_PERSON), (_BY_WAITING, Cure.WAITING)):
        if any(f"{name}: " in failure for name in names):
            return cure
    return Cure.WAITING if _SLOW_WORKER in failure else Cure.A_NEW_DRIVER


def reason_of(failure: str) -> str:
    """Return one sentence: the last exception's decisive message, with its name if it is not ours."""
    exceptions = [(match["name"], match["said"]) for match in _EXCEPTION.finditer(failure.replace("\\n", "\n"))]
    for names in (_BY_A_PERSON, _BY_WAITING):
        if ours := [match for name, match in exceptions if name in names]:
            return _sentence(ours[-1])
    if _SLOW_WORKER in failure:
        return _SLOW_WORKER_REASON
    others = [f"{name}: {match}" for name, match in exceptions if name not in _WRAPPERS]
    return _sentence(others[-1] if others else failure.strip().partition("\n")[0])


def _sentence(text: str) -> str:
    return text.strip()[:REASON_LENGTH_MAX]
