"""Whether what is stored of a cluster still tells its state."""

import pytest

from console.state.clusters.outage import STALE_MS, outage_of

NOW_MS = 1_700_000_000_000


def outage(error: str = "", *, seen_ms_ago: int | None = 500, beat_ms_ago: int | None = 500):
    seen_at_ms = 0 if seen_ms_ago is None else NOW_MS - seen_ms_ago
    heartbeat_at_ms = 0 if beat_ms_ago is None else NOW_MS - beat_ms_ago
    return outage_of(error, seen_at_ms, heartbeat_at_ms, NOW_MS, "k1:9092,k2:9092")


def test_a_cluster_that_was_just_read_is_known():
    assert outage() is None


def test_a_cluster_that_was_never_tried_has_no_outage():
    assert outage(seen_ms_ago=None) is None


def test_a_cluster_that_does_not_answer_is_unknown_with_the_age_of_its_data_and_what_was_tried():
    result = outage("No broker answered in time.", seen_ms_ago=300_000)
    assert result.sentence.replace("\u202f", " ") == (
        "The state of this cluster is unknown (last read 5 min ago; tried k1:9092,k2:9092): No broker answered in time."
    )
    assert result.evidence.replace("\u202f", " ") == "Last read 5 min ago · tried k1:9092,k2:9092"


def test_a_cluster_that_never_answered_was_never_read():
    assert outage("No broker answered in time.", seen_ms_ago=None).age == "never read"


@pytest.mark.parametrize(
    ("beat_ms_ago", "seen_ms_ago", "cause"),
    [(STALE_MS + 1, STALE_MS + 1, "collector is silent"), (500, STALE_MS + 501, "No broker has answered")],
)
def test_a_silent_collector_and_a_read_that_hangs_make_the_cluster_unknown(beat_ms_ago, seen_ms_ago, cause):
    assert cause in outage(beat_ms_ago=beat_ms_ago, seen_ms_ago=seen_ms_ago).cause


def test_a_collector_at_rest_is_not_silent():
    assert outage(beat_ms_ago=STALE_MS, seen_ms_ago=STALE_MS) is None
