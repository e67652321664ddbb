"""What the probe says, as reasons of health: the right broker, the next safe action, nothing that is said already."""

from console.signals.overview.health import FailingPartition, HealthLevel, ProbeWord
from console.signals.overview.probe_reasons import probe_reasons


def reasons(word, missing=(), managed=(1, 2, 3)):
    return {reason.key: reason for reason in probe_reasons(word, missing, managed)}


def test_without_a_probe_or_with_one_to_which_all_is_well_there_is_no_reason():
    assert reasons(None) == {}
    assert reasons(ProbeWord("probe")) == {}


def test_a_registered_broker_that_does_not_answer_is_critical_and_leads_to_its_process():
    reason = reasons(ProbeWord("probe", silent={2: (1_000, "timed out")}))["silent:2"]
    assert (reason.level, reason.since_ms) == (HealthLevel.CRITICAL, 1_000)
    assert (reason.action.page, reason.action.argument) == ("process", "broker-2")
    assert "timed out" in reason.evidence


def test_of_somebody_else_s_broker_no_process_is_shown():
    reason = reasons(ProbeWord("probe", silent={2: (1_000, "")}), managed=())["silent:2"]
    assert reason.action.page == ""
    assert "own host" in reason.action.text


def test_a_broker_that_is_not_registered_has_its_own_reason():
    assert reasons(ProbeWord("probe", silent={2: (1_000, "refused")}), missing={2}) == {}


def test_a_partition_is_told_of_only_if_no_broker_of_it_is_silent():
    failing = (FailingPartition(0, 5, "timed out", (1, 2)), FailingPartition(1, 7, "no leader", (1, 3)))
    word = ProbeWord("probe", silent={2: (1, "")}, failing=failing)
    result = reasons(word)
    assert set(result) == {"silent:2", "probe failing"}
    assert result["probe failing"].parts == ("1",)
    assert result["probe failing"].since_ms == 7
    assert set(reasons(word, missing={3})) == {"silent:2"}


def test_lost_records_are_critical():
    reason = reasons(ProbeWord("probe", lost=2))["probe lost"]
    assert (reason.level, reason.weight, reason.action.page) == (HealthLevel.CRITICAL, 2, "probe")


def test_a_probe_that_is_silent_is_itself_a_reason():
    reason = reasons(ProbeWord("probe", error="timed out", error_since_ms=9))["probe silent"]
    assert (reason.level, reason.name, reason.since_ms) == (HealthLevel.WARNING, "probe", 9)
