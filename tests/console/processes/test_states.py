"""The table of states, one line per situation."""

from datetime import UTC, datetime, timedelta

import pytest

from console.processes.restarts import Policy
from console.processes.states import (
    Desired,
    ManagedProcessFacts,
    Observed,
    ProcessStep,
    Request,
    could_not_start,
    decide,
    request_is_done,
    silence_of,
)

NOW = datetime(2026, 3, 1, 12, 3, 4, tzinfo=UTC)


def facts(**given) -> ManagedProcessFacts:
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
    return ManagedProcessFacts(**(usual | given))


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def ahead(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


AWAY = {"recorded": False, "observed": Observed.EXITED}
TABLE = [
    # alive
    ({"alive": True}, Observed.RUNNING, "running since 12:03:00 UTC", ProcessStep.NOTHING),
    (
        {"alive": True, "observed": Observed.STARTING, "missing": "port 9092 does not answer"},
        Observed.STARTING,
        "starting: port 9092 does not answer yet (4 s)",
        ProcessStep.NOTHING,
    ),
    (
        {"alive": True, "missing": "port 9092 does not answer"},
        Observed.UNRESPONSIVE,
        "alive, but port 9092 does not answer",
        ProcessStep.NOTHING,
    ),
    (
        {"alive": True, "observed": Observed.UNRESPONSIVE, "missing": "port 9092 does not answer"},
        Observed.UNRESPONSIVE,
        "alive, but port 9092 does not answer",
        ProcessStep.NOTHING,
    ),
    (
        {"alive": True, "suspended": True},
        Observed.UNRESPONSIVE,
        "alive, but suspended (SIGSTOP); it goes on after SIGCONT",
        ProcessStep.NOTHING,
    ),
    # asked to end
    (
        {"alive": True, "desired": Desired.STOPPED, "request": Request.STOP},
        Observed.STOPPING,
        "stopping: was asked to end (SIGTERM)",
        ProcessStep.TERMINATE,
    ),
    (
        {"alive": True, "desired": Desired.STOPPED, "terminated_at": ago(7)},
        Observed.STOPPING,
        "stopping: asked 7 s ago, killed after 20 s",
        ProcessStep.NOTHING,
    ),
    (
        {"alive": True, "desired": Desired.STOPPED, "terminated_at": ago(20)},
        Observed.STOPPING,
        "stopping: did not end within 20 s of SIGTERM, so it is killed",
        ProcessStep.KILL,
    ),
    (
        {"alive": True, "request": Request.RESTART},
        Observed.STOPPING,
        "stopping: was asked to end (SIGTERM)",
        ProcessStep.TERMINATE,
    ),
    (
        {"alive": True, "request": Request.START, "terminated_at": ago(1)},
        Observed.STOPPING,
        "stopping: asked 1 s ago, killed after 20 s",
        ProcessStep.NOTHING,
    ),
    # ended
    ({"desired": Desired.STOPPED, "exit_status": 0}, Observed.STOPPED, "stopped at 12:03:04 UTC", ProcessStep.NOTHING),
    (
        {"terminated_at": ago(20), "exit_status": -9},
        Observed.STOPPED,
        "stopped at 12:03:04 UTC (had to be killed)",
        ProcessStep.NOTHING,
    ),
    (
        {"exit_status": -9, "last_log_line": "all is well"},
        Observed.EXITED,
        "exited: killed by signal 9 (SIGKILL) at 12:03:04 UTC; started again in 1 s (try 1), at 12:03:05 UTC",
        ProcessStep.NOTHING,
    ),
    (
        {"exit_status": 1, "restart": Policy.NEVER, "last_log_line": "server: port 9092 is taken"},
        Observed.EXITED,
        "exited: ended by itself with status 1 at 12:03:04 UTC; it is not started again: auto-restart is off; "
        "its last line: server: port 9092 is taken",
        ProcessStep.NOTHING,
    ),
    (
        {"exit_status": 1, "restart": Policy.NEVER, "last_log_line": "x is no INT", "may_quote_records": True},
        Observed.EXITED,
        "exited: ended by itself with status 1 at 12:03:04 UTC; it is not started again: auto-restart is off; "
        "the last line of its log: x is no INT",
        ProcessStep.NOTHING,
    ),
    (
        {"exit_status": None, "deaths_in_a_row": 3},
        Observed.EXITED,
        "exited: gone since 12:03:04 UTC, how it ended is not known; started again in 8 s (try 4), at 12:03:12 UTC",
        ProcessStep.NOTHING,
    ),
    (
        {"exit_status": 78, "deaths_in_a_row": 2, "last_log_line": "server: listeners is missing"},
        Observed.FAILED,
        "failed: ended by itself with status 78 at 12:03:04 UTC; gave up after 3 tries: correct its "
        "configuration and start it; its last line: server: listeners is missing",
        ProcessStep.NOTHING,
    ),
    (
        {"alive": True, "request": Request.KILL, "desired": Desired.STOPPED},
        Observed.STOPPING,
        "stopping: is killed, as asked (SIGKILL)",
        ProcessStep.KILL,
    ),
    (
        {"request": Request.KILL, "desired": Desired.STOPPED, "exit_status": -9},
        Observed.STOPPED,
        "stopped at 12:03:04 UTC (killed, as asked)",
        ProcessStep.NOTHING,
    ),
    # it ended earlier
    (AWAY | {"start_again_at": ahead(5)}, Observed.EXITED, "as before", ProcessStep.NOTHING),
    (AWAY | {"start_again_at": NOW}, Observed.STARTING, "starting again, after it ended by itself", ProcessStep.SPAWN),
    (
        AWAY | {"start_again_at": ahead(3600)},
        Observed.STARTING,
        "starting again, after it ended by itself",
        ProcessStep.SPAWN,
    ),
    (AWAY | {"restart": Policy.NEVER}, Observed.EXITED, "as before", ProcessStep.NOTHING),
    (AWAY | {"observed": Observed.FAILED}, Observed.FAILED, "as before", ProcessStep.NOTHING),
    (
        AWAY | {"request": Request.STOP, "desired": Desired.STOPPED, "start_again_at": NOW},
        Observed.STOPPED,
        "stopped at 12:03:04 UTC: it had ended by itself before",
        ProcessStep.NOTHING,
    ),
    (
        AWAY | {"request": Request.STOP, "start_again_at": NOW},
        Observed.STOPPED,
        "stopped at 12:03:04 UTC: it had ended by itself before",
        ProcessStep.NOTHING,
    ),
    # not there, nothing new
    ({"recorded": False, "observed": Observed.STOPPED}, Observed.STOPPED, "as before", ProcessStep.NOTHING),
    # to be started
    ({"recorded": False, "request": Request.START}, Observed.STARTING, "starting", ProcessStep.SPAWN),
    ({"terminated_at": ago(2), "request": Request.RESTART}, Observed.STARTING, "starting", ProcessStep.SPAWN),
]


@pytest.mark.parametrize(("given", "observed", "sentence", "do"), TABLE, ids=lambda value: str(value)[:60])
def test_state_sentence_and_deed_follow_from_the_facts(given, observed, sentence, do):
    decision = decide(facts(**given))
    assert (decision.observed, decision.sentence, decision.do) == (observed, sentence, do)


@pytest.mark.parametrize("status", [None, 0, 1, -9, -15])
def test_an_unexpected_end_is_followed_by_a_delay_never_by_a_start_at_once(status):
    decision = decide(facts(exit_status=status))
    assert (decision.do, decision.deaths_in_a_row, decision.start_again_at) == (ProcessStep.NOTHING, 1, ahead(1))


def test_what_an_operator_or_the_console_ended_is_not_started_again():
    for given in ({"desired": Desired.STOPPED}, {"request": Request.STOP}, {"terminated_at": ago(2)}):
        ended = decide(facts(exit_status=-15, **given))
        assert (ended.observed, ended.start_again_at, ended.deaths_in_a_row) == (Observed.STOPPED, None, 0)
        later = facts(recorded=False, observed=Observed.STOPPED)
        assert decide(later).do is ProcessStep.NOTHING


def test_what_could_not_be_started_counts_as_a_wrong_configuration():
    last = could_not_start(facts(deaths_in_a_row=2), "No such file")
    assert (last.observed, last.start_again_at) == (Observed.FAILED, None)
    assert "could not be started at 12:03:04 UTC: No such file" in last.sentence


def test_a_clock_set_back_does_not_put_off_the_end():
    decision = decide(facts(alive=True, request=Request.STOP, terminated_at=ago(-3600)))
    assert decision.do is ProcessStep.TERMINATE


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
