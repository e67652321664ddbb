"""What a drill does next, what it may come to, and when it is worse: all of it without a cluster."""

from dataclasses import replace

import pytest

from console.automation.drill.compare import Probed, compare
from console.automation.drill.decide import (
    BEFORE_MS,
    BEGINS_MS,
    COUNT_MAX_MS,
    RECOVER_MAX_MS,
    DrillFacts,
    DrillPhase,
    DrillStep,
    decide,
)
from console.automation.drill.expect import ExpectedEffects, of_broker, of_server, read_expected
from console.automation.drill.faults import Fault
from console.automation.drill.guarding import NOT_ALLOWED, Start, why_not, why_worse
from console.automation.drill.samples import Sample, measure, read_samples
from console.processes.guard import Absence, Hosted, ServerAbsence

SESSION_S, LAG_S = 6.0, 30.0


def facts(phase: DrillPhase, **named) -> DrillFacts:
    return DrillFacts(**{"phase": phase, "name": "broker-2", "in_phase_ms": 0, "fault_ms": 20_000} | named)


@pytest.mark.parametrize(
    ("given", "do", "phase"),
    [
        (facts(DrillPhase.BEFORE), DrillStep.NOTHING, DrillPhase.BEFORE),
        (facts(DrillPhase.BEFORE, in_phase_ms=BEFORE_MS), DrillStep.BEGIN, DrillPhase.FAULT),
        (
            facts(DrillPhase.BEFORE, in_phase_ms=BEFORE_MS, why_not="a broker is away"),
            DrillStep.CALL_OFF,
            DrillPhase.BEFORE,
        ),
        (facts(DrillPhase.BEFORE, in_phase_ms=BEFORE_MS, is_called_off=True), DrillStep.CALL_OFF, DrillPhase.BEFORE),
        (facts(DrillPhase.FAULT, in_phase_ms=19_999), DrillStep.NOTHING, DrillPhase.FAULT),
        (facts(DrillPhase.FAULT, in_phase_ms=20_000), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.FAULT, is_called_off=True), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.FAULT, worse="another broker is away, 3"), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.FAULT, is_over=True, in_phase_ms=BEGINS_MS), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.FAULT, is_over=True, in_phase_ms=BEGINS_MS - 1), DrillStep.NOTHING, DrillPhase.FAULT),
        (facts(DrillPhase.BACK, is_called_off=True), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.BACK, in_phase_ms=10 * RECOVER_MAX_MS), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.BACK, is_back=True), DrillStep.NOTHING, DrillPhase.RECOVER),
        (facts(DrillPhase.RECOVER, is_back=True), DrillStep.NOTHING, DrillPhase.RECOVER),
        (facts(DrillPhase.RECOVER), DrillStep.PUT_BACK, DrillPhase.RECOVER),
        (facts(DrillPhase.RECOVER, is_back=True, is_whole=True), DrillStep.NOTHING, DrillPhase.COUNT),
        (facts(DrillPhase.RECOVER, in_phase_ms=RECOVER_MAX_MS), DrillStep.NOTHING, DrillPhase.COUNT),
        (facts(DrillPhase.COUNT, is_counted=False), DrillStep.NOTHING, DrillPhase.COUNT),
        (facts(DrillPhase.COUNT, is_counted=False, in_phase_ms=COUNT_MAX_MS), DrillStep.FINISH, DrillPhase.COUNT),
        (facts(DrillPhase.COUNT), DrillStep.FINISH, DrillPhase.COUNT),
        (facts(DrillPhase.COUNT, is_called_off=True), DrillStep.CALL_OFF, DrillPhase.COUNT),
        # The clock was set back by an hour.
        (facts(DrillPhase.BEFORE, in_phase_ms=-3_600_000), DrillStep.CALL_OFF, DrillPhase.BEFORE),
        (facts(DrillPhase.FAULT, in_phase_ms=-3_600_000), DrillStep.PUT_BACK, DrillPhase.BACK),
        (facts(DrillPhase.RECOVER, in_phase_ms=-3_600_000, is_back=True), DrillStep.NOTHING, DrillPhase.COUNT),
        (facts(DrillPhase.COUNT, in_phase_ms=-3_600_000, is_counted=False), DrillStep.FINISH, DrillPhase.COUNT),
    ],
)
def test_what_comes_next(given, do, phase):
    decision = decide(given)
    assert (decision.do, decision.phase) == (do, phase)


def test_it_is_never_over_before_everything_is_back():
    for phase in (DrillPhase.FAULT, DrillPhase.BACK):
        for is_called_off in (False, True):
            for in_phase_ms in (0, 10**9):
                decision = decide(facts(phase, is_called_off=is_called_off, in_phase_ms=in_phase_ms))
                assert decision.do not in (DrillStep.FINISH, DrillStep.CALL_OFF)


def hosted(partition: int) -> Hosted:
    return Hosted("orders", partition, (1, 2), (1, 2), 1, 2)


ABSENCE = Absence(broker_id=2, moved=4, thinner=3, is_controller=True, groups=("billing",))


def test_a_kill_is_noticed_and_leaders_move():
    expected = of_broker(Fault.KILL, 20, ABSENCE, SESSION_S, LAG_S)
    assert (expected.notices, expected.leaders_moved, expected.controller_moves) == (True, (0, 4), (1, 1))
    assert expected.groups == 1


def test_a_pause_shorter_than_the_session_goes_unnoticed_and_a_longer_one_does_not():
    short = of_broker(Fault.PAUSE, 3, ABSENCE, SESSION_S, LAG_S)
    assert (short.notices, short.leaders_moved, short.under_replicated_s[1]) == (False, (0, 0), 0)
    long = of_broker(Fault.PAUSE, 20, ABSENCE, SESSION_S, LAG_S)
    assert (long.notices, long.leaders_moved, long.controller_moves) == (True, (0, 4), (1, 1))
    edge = of_broker(Fault.PAUSE, 6, ABSENCE, SESSION_S, LAG_S)
    assert edge.controller_moves == (0, 1)


def test_a_slow_one_is_not_missed_and_one_below_its_minimum_is_said():
    assert not of_broker(Fault.SLOW, 60, ABSENCE, SESSION_S, LAG_S).notices
    tight = replace(ABSENCE, below=(hosted(0), hosted(1)))
    assert of_broker(Fault.KILL, 20, tight, SESSION_S, LAG_S).below == (0, 2)


def test_what_was_expected_survives_the_database():
    expected = of_broker(Fault.KILL, 20, ABSENCE, SESSION_S, LAG_S)
    assert (
        read_expected({name: list(v) if isinstance(v, tuple) else v for name, v in expected.as_json().items()})
        == expected
    )


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"allowed": False}, NOT_ALLOWED),
        ({"read_only": "The cluster is read-only."}, "read-only"),
        ({"is_doubtful": True}, "is unknown"),
        ({"operation": "A rolling restart"}, "A rolling restart is under way."),
        ({"is_moving": True}, "being reassigned"),
        ({"away": [3]}, "A broker is away already: 3."),
        ({"lacking": 1}, "1 partition short of"),
        ({"zookeeper_silent": 1}, "1 ZooKeeper server not serving."),
        ({"is_running": False}, "does not run"),
        ({"is_elsewhere": True}, "another host"),
        ({"offline": 2}, "2 partitions would be without any replica in sync."),
        ({"costs_quorum": True}, "quorum"),
    ],
)
def test_it_does_not_begin(changes, why):
    assert why in why_not(Start(name="broker-2", **changes))
    assert why_not(Start(name="broker-2")) == ""


def sample(at_s: float, **named) -> Sample:
    given = {"led": 4, "controller_id": 2, "registered": (1, 2, 3), "failing": 0, "lost": 0, "zookeeper": 3}
    return Sample(at_ms=int(at_s * 1_000), seen_at_ms=int(at_s * 1_000), **given | named)


EXPECTED = of_broker(Fault.PAUSE, 20, ABSENCE, SESSION_S, LAG_S)
BEFORE = sample(0)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        ([sample(1)], ""),
        ([sample(8, registered=(1, 3), under_replicated=7)], ""),
        ([sample(8, registered=(1,))], "another broker is away, 3"),
        ([sample(1, below=1)], "1 partition below min.insync.replicas, 0 expected"),
        ([sample(1, lost=2)], "the probe misses acknowledged records"),
        ([replace(sample(30), seen_at_ms=1)], "cannot see"),
        ([sample(index, leaderless=3) for index in range(1, 8)], ""),
        ([sample(index, leaderless=3) for index in range(1, 20)], "without a leader for more than 9 s"),
        ([sample(index, leaderless=index % 4) for index in range(1, 20)], ""),
    ],
    ids=["well", "as expected", "another", "below", "lost", "blind", "electing", "leaderless", "again and again"],
)
def test_it_ends_early_when_it_is_worse_than_expected(seen, why):
    result = why_worse(EXPECTED, seen, BEFORE, 2)
    assert (why in result) if why else result == ""


def test_a_zookeeper_server_that_takes_another_along_ends_it():
    expected = of_server(
        Fault.KILL,
        20,
        ServerAbsence(
            voters=5,
            left=4,
            is_member=True,
            is_leader=False,
            had_quorum=True,
            is_doubtful=False,
            now_ms=0,
            seen_at_ms=0,
        ),
    )
    assert why_worse(expected, [sample(1, zookeeper=4)], sample(0, zookeeper=5), None) == ""
    assert "3 ZooKeeper servers left, 4 expected" in why_worse(
        expected, [sample(1, zookeeper=3)], sample(0, zookeeper=5), None
    )


SERVER = ServerAbsence(
    voters=3, left=2, is_member=True, is_leader=True, had_quorum=True, is_doubtful=False, now_ms=0, seen_at_ms=0
)


def test_while_the_others_elect_a_leader_nobody_serves_and_that_is_expected_of_a_leader_alone():
    leader, follower = (of_server(Fault.KILL, 20, replace(SERVER, is_leader=number)) for number in (True, False))
    electing = [sample(number, zookeeper=0) for number in (1, 3, 5)]
    assert why_worse(leader, electing, sample(0), None) == ""
    assert "0 ZooKeeper servers left, 2 expected" in why_worse(follower, electing[:1], sample(0), None)
    too_long = [sample(index, zookeeper=0) for index in range(1, 13)]
    assert "0 ZooKeeper servers left, 2 expected" in why_worse(leader, too_long, sample(0), None)
    again = [*electing, sample(6, zookeeper=2), sample(8, zookeeper=0), sample(12, zookeeper=0)]
    assert why_worse(leader, again, sample(0), None) == ""


def test_a_broker_that_finds_nobody_while_they_elect_may_begin_another_session():
    moved = measure([sample(0), sample(8, controller_id=3)], 5_000, 7_000, None)
    for is_leader, verdict in ((True, "as expected"), (False, "worse")):
        rows = compare(of_server(Fault.PAUSE, 20, replace(SERVER, is_leader=is_leader)), moved, None, of_broker=False)
        assert {row.what: row.verdict for row in rows}["Moves of the controller"] == verdict


def test_an_election_is_a_line_of_the_report_and_no_server_that_was_lost():
    story = [sample(0), sample(6, zookeeper=0), sample(8, zookeeper=2), sample(26), sample(30)]
    measured = measure(story, 5_000, 25_000, None)
    assert (measured.zookeeper_left, measured.quorumless_s) == (2, 2.0)
    expected = of_server(Fault.KILL, 20, SERVER)
    rows = {row.what: row.verdict for row in compare(expected, measured, None, of_broker=False)}
    assert rows["ZooKeeper servers that served"] == "as expected"
    assert rows["ZooKeeper without a quorum, for"] == "as expected"
    follower = of_server(Fault.KILL, 20, replace(SERVER, is_leader=False))
    rows = {row.what: row.verdict for row in compare(follower, measured, None, of_broker=False)}
    assert rows["ZooKeeper without a quorum, for"] == "as expected"
    longer = measure([*story, sample(32, zookeeper=0), sample(36)], 5_000, 25_000, None)
    rows = {row.what: row.verdict for row in compare(follower, longer, None, of_broker=False)}
    assert rows["ZooKeeper without a quorum, for"] == "worse"


STORY = [
    sample(0),
    sample(5),
    sample(6, failing=2),
    sample(10, failing=2, leaderless=4, registered=(1, 3), led=0, controller_id=None),
    sample(12, under_replicated=7, registered=(1, 3), led=0, controller_id=3),
    sample(26, under_replicated=7, led=0, controller_id=3),
    sample(30, led=0, controller_id=3),
]


def test_figures_are_what_the_seconds_add_up_to():
    result = measure(STORY, 5_000, 25_000, 2)
    assert (result.leaders_moved, result.controller_moves, result.lost) == (4, 1, 0)
    assert (result.leaderless_s, result.under_replicated_s, result.unanswered_s, result.back_s) == (2.0, 18.0, 6.0, 5.0)


def test_what_is_whole_and_falls_again_is_back_at_the_end_only_and_what_is_not_whole_never():
    again = [*STORY, sample(32, under_replicated=1), sample(40)]
    assert measure(again, 5_000, 25_000, 2).back_s == 15.0
    assert measure([*STORY, sample(32, under_replicated=1)], 5_000, 25_000, 2).back_s is None
    assert measure(STORY[:3], 5_000, None, 2).back_s is None


def test_without_a_probe_nobody_says_that_nothing_was_lost():
    blind = [replace(item, failing=None, lost=None) for item in STORY]
    rows = {row.what: row for row in compare(EXPECTED, measure(blind, 5_000, 25_000, 2), None, of_broker=True)}
    assert rows["Acknowledged records lost"].verdict == "not known"
    assert rows["The probe could not write or read some partition, for"].verdict == "not known"


def test_nothing_measured_is_nothing_worse_than_nothing():
    assert measure([], 0, None, 2).leaders_moved == 0


def verdicts(expected: ExpectedEffects, story=STORY, probed: Probed | None = None) -> dict[str, str]:
    rows = compare(expected, measure(story, 5_000, 25_000, 2), probed, of_broker=True)
    return {row.what: row.verdict for row in rows}


def test_the_comparison_says_line_by_line_what_was_worse():
    assert set(verdicts(EXPECTED).values()) == {"as expected"}
    short = of_broker(Fault.PAUSE, 3, ABSENCE, SESSION_S, LAG_S)
    worse = [what for what, verdict in verdicts(short).items() if verdict == "worse"]
    assert worse == [
        "Leaderships that moved to others",
        "Moves of the controller",
        "Partitions short of replicas in sync, for",
    ]
    lost = [*STORY, sample(31, lost=3)]
    assert verdicts(EXPECTED, lost)["Acknowledged records lost"] == "worse"


def test_what_the_probe_counted_is_measured_and_nobody_expected_it():
    result = compare(EXPECTED, measure(STORY, 5_000, 25_000, 2), Probed(0.97, 1.0, 900, 12), of_broker=True)
    last = {row.what: (row.measured, row.verdict) for row in result[-3:]}
    assert last["Records that could be written, in these minutes"] == ("97.0 %", "measured")
    assert last["From sent to read, p99 in these minutes"] == ("900 ms", "measured")


def test_samples_survive_the_database():
    kept = [{name: list(v) if isinstance(v, tuple) else v for name, v in item.as_json().items()} for item in STORY]
    assert read_samples(kept) == STORY
