"""The table of states, one line per situation."""

from datetime import UTC, datetime, timedelta

import pytest

from console.processes.states import (
    Decision,
    Desired,
    Do,
    Facts,
    Observed,
    Request,
    decide,
    request_is_done,
    silence_of,
)

NOW = datetime(2026, 3, 1, 12, 3, 4, tzinfo=UTC)


def facts(**given) -> Facts:
    usual = {
        "now": NOW,
        "desired": Desired.RUNNING,
        "request": Request.NONE,
        "observed": Observed.RUNNING,
        "sentence": "as before",
        "grace_s": 20,
        "recorded": True,
        "started_at": NOW - timedelta(seconds=4),
    }
    return Facts(**(usual | given))


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


TABLE = [
    # alive
    ({"alive": True}, Observed.RUNNING, "running since 12:03:00 UTC", Do.NOTHING),
    (
        {"alive": True, "observed": Observed.STARTING, "missing": "port 9092 does not answer"},
        Observed.STARTING,
        "starting: port 9092 does not answer yet (4 s)",
        Do.NOTHING,
    ),
    (
        {"alive": True, "missing": "port 9092 does not answer"},
        Observed.UNRESPONSIVE,
        "alive, but port 9092 does not answer",
        Do.NOTHING,
    ),
    (
        {"alive": True, "observed": Observed.UNRESPONSIVE, "missing": "port 9092 does not answer"},
        Observed.UNRESPONSIVE,
        "alive, but port 9092 does not answer",
        Do.NOTHING,
    ),
    (
        {"alive": True, "suspended": True},
        Observed.UNRESPONSIVE,
        "alive, but suspended (SIGSTOP); it goes on after SIGCONT",
        Do.NOTHING,
    ),
    # asked to end
    (
        {"alive": True, "desired": Desired.STOPPED, "request": Request.STOP},
        Observed.STOPPING,
        "stopping: was asked to end (SIGTERM)",
        Do.TERMINATE,
    ),
    (
        {"alive": True, "desired": Desired.STOPPED, "terminated_at": ago(7)},
        Observed.STOPPING,
        "stopping: asked 7 s ago, killed after 20 s",
        Do.NOTHING,
    ),
    (
        {"alive": True, "desired": Desired.STOPPED, "terminated_at": ago(20)},
        Observed.STOPPING,
        "stopping: did not end within 20 s of SIGTERM, so it is killed",
        Do.KILL,
    ),
    (
        {"alive": True, "request": Request.RESTART},
        Observed.STOPPING,
        "stopping: was asked to end (SIGTERM)",
        Do.TERMINATE,
    ),
    (
        {"alive": True, "request": Request.START, "terminated_at": ago(1)},
        Observed.STOPPING,
        "stopping: asked 1 s ago, killed after 20 s",
        Do.NOTHING,
    ),
    # ended
    ({"desired": Desired.STOPPED, "exit_status": 0}, Observed.STOPPED, "stopped at 12:03:04 UTC", Do.NOTHING),
    (
        {"terminated_at": ago(20), "exit_status": -9},
        Observed.STOPPED,
        "stopped at 12:03:04 UTC (had to be killed)",
        Do.NOTHING,
    ),
    (
        {"exit_status": -9, "last_words": "all is well"},
        Observed.EXITED,
        "exited: killed by signal 9 (SIGKILL) at 12:03:04 UTC",
        Do.NOTHING,
    ),
    (
        {"exit_status": 1, "last_words": "server: port 9092 is taken"},
        Observed.EXITED,
        "exited: ended by itself with status 1 at 12:03:04 UTC; its last line: server: port 9092 is taken",
        Do.NOTHING,
    ),
    (
        {"exit_status": None},
        Observed.EXITED,
        "exited: gone since 12:03:04 UTC, how it ended is not known",
        Do.NOTHING,
    ),
    # not there, nothing new
    ({"recorded": False, "observed": Observed.EXITED}, Observed.EXITED, "as before", Do.NOTHING),
    ({"recorded": False, "observed": Observed.STOPPED}, Observed.STOPPED, "as before", Do.NOTHING),
    # to be started
    ({"recorded": False, "request": Request.START}, Observed.STARTING, "starting", Do.SPAWN),
    ({"terminated_at": ago(2), "request": Request.RESTART}, Observed.STARTING, "starting", Do.SPAWN),
]


@pytest.mark.parametrize(("given", "observed", "sentence", "do"), TABLE, ids=lambda value: str(value)[:60])
def test_state_sentence_and_deed_follow_from_the_facts(given, observed, sentence, do):
    assert decide(facts(**given)) == Decision(observed, sentence, do)


def test_an_unexpected_end_is_never_followed_by_a_start_of_its_own():
    for status in (None, 0, 1, -9, -15):
        assert decide(facts(exit_status=status)).do is Do.NOTHING


def test_a_clock_set_back_does_not_put_off_the_end():
    decision = decide(facts(alive=True, request=Request.STOP, terminated_at=ago(-3600)))
    assert decision.do is Do.TERMINATE


def test_a_restart_stays_wanted_until_the_new_process_is_there():
    stopping = facts(alive=True, request=Request.RESTART, terminated_at=ago(1))
    assert not request_is_done(stopping, decide(stopping))
    gone = facts(alive=False, request=Request.RESTART, terminated_at=ago(1))
    assert request_is_done(gone, decide(gone))


def test_a_start_pressed_while_stopping_stays_wanted():
    stopping = facts(alive=True, request=Request.START, terminated_at=ago(1))
    assert not request_is_done(stopping, decide(stopping))


def test_several_silent_ports_are_all_named():
    assert silence_of((9092, 9192)) == "ports 9092 and 9192 do not answer"
