"""What a drill does, and to whom. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

#: Seconds a fault may last; the holder knows no more than that either.
SECONDS_MIN, SECONDS_MAX = 5, 120
#: Of a slow process: milliseconds of each 100 in which it runs.
RUNS_MS = 20


class Fault(StrEnum):
    KILL = "kill"
    PAUSE = "pause"
    SLOW = "slow"


class FaultTarget(StrEnum):
    """`PROCESS`: the one that is named; the others are found when the plan is made."""

    CONTROLLER = "controller"
    LEADER = "leader"
    PROCESS = "process"
    ZOOKEEPER_LEADER = "zookeeper-leader"


@dataclass(frozen=True, slots=True)
class FaultTexts:
    title: str
    course: str
    undo: str


WORDS: Mapping[Fault, FaultTexts] = {
    Fault.KILL: FaultTexts(
        "Kill",
        "It is ended at once (SIGKILL) and started again {seconds} s later.",
        "it is started again: when the time is over, and when the drill is stopped.",
    ),
    Fault.PAUSE: FaultTexts(
        "Pause",
        "It is stopped where it stands (SIGSTOP) and continued after {seconds} s (SIGCONT): alive, and silent.",
        "it is continued: when the time is over, when the drill is stopped, and when the console or its worker dies.",
    ),
    Fault.SLOW: FaultTexts(
        "Slow",
        "For {seconds} s it runs in {runs} of each 100 ms and is stopped in the rest, as on a host whose processor "
        "others take. Its disk and its network are as ever. The page of processes may find it suspended.",
        "it is continued: when the time is over, when the drill is stopped, and when the console or its worker dies.",
    ),
}


def course_of(fault: Fault, seconds: int) -> str:
    return WORDS[fault].course.format(seconds=seconds, runs=RUNS_MS)
