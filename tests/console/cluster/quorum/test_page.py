"""The page of the KRaft quorum: leader, lag, silent voters, and that a cluster has none."""

from dataclasses import asdict

import pytest

from broker.common.errors import ErrorCode
from console.cluster.quorum.members import QuorumSummary, is_writable, members_of, summary_of
from console.kit.gateway.errors import refusal
from console.kit.gateway.quorum.interface import FeatureView, QuorumReplicaView, QuorumView
from console.signals.overview.health import HealthFacts, HealthLevel
from console.signals.overview.reasons import assess
from console.state.clusters.queries import cluster_state

NOW_MS = 1_000_000


def quorum(leader: int | None, *voters: tuple[int, int, int | None]) -> QuorumView:
    """Voters: id, log end offset, ms since the last fetch."""
    views = tuple(
        QuorumReplicaView(voter, end, None if ago is None else NOW_MS - ago, None if ago is None else NOW_MS - ago)
        for voter, end, ago in voters
    )
    return QuorumView(leader, 7, 90, views, ())


def test_lag_is_counted_from_the_leader_and_a_silent_voter_is_named():
    view = quorum(1, (3, 40, 60_000), (1, 100, None), (2, 98, 500))
    members = members_of(view, NOW_MS)
    assert [(member.replica.replica_id, member.role, member.lag, member.is_silent) for member in members] == [
        (1, "leader", 0, False),
        (2, "voter", 2, False),
        (3, "voter", 60, True),
    ]
    assert is_writable(view, members)


@pytest.mark.parametrize(
    "view",
    [
        quorum(None, (1, 100, 10), (2, 100, 10), (3, 100, 10)),
        quorum(1, (1, 100, None), (2, 98, 60_000), (3, 40, None)),
    ],
)
def test_without_a_leader_or_a_majority_no_metadata_is_changed(view):
    assert not is_writable(view, members_of(view, NOW_MS))


def test_the_page_shows_the_quorum(cluster, viewer, client_of):
    cluster.quorum.view = quorum(1, (1, 100, None))
    assert "metadata can be changed" in client_of(viewer).get("/quorum/").content.decode()


def test_features_are_shown_in_every_cluster(cluster, viewer, client_of):
    cluster.quorum.known = (FeatureView("metadata.version", 7, 33, 33), FeatureView("group.version", 0, 1, None))
    text = client_of(viewer).get("/features/").content.decode()
    assert 'href="/features/"' in client_of(viewer).get("/brokers/").content.decode()
    assert "4.4-IV2" in text
    assert "3.3-IV3 to 4.4-IV2" in text
    assert "not finalized" in text


def test_a_cluster_without_quorum_is_told_as_such(cluster, viewer, client_of):
    assert "This cluster has no KRaft quorum" in client_of(viewer).get("/quorum/").content.decode()


def test_an_unreachable_cluster_is_no_cluster_without_quorum(cluster, viewer, client_of):
    cluster.cut_off()
    text = client_of(viewer).get("/quorum/").content.decode()
    assert "No broker answered in time." in text
    assert "no KRaft quorum" not in text


def test_without_zookeeper_configured_there_is_no_tab_of_a_quorum_that_never_answered(viewer, client_of, settings):
    settings.ZOOKEEPER = ""
    assert 'href="/quorum/"' not in client_of(viewer).get("/brokers/").content.decode()


def test_a_summary_names_the_voters_that_are_behind_and_the_largest_lag():
    view = quorum(1, (1, 100, None), (2, 99, 500), (3, 40, 60_000))
    assert summary_of(view, NOW_MS) == QuorumSummary(1, 7, 3, 60, (3,), True)


def test_times_are_counted_from_the_leaders_clock():
    """The console's clock is a minute ahead of the leader's."""
    view = quorum(1, (1, 100, 0), (2, 100, 300), (3, 100, 500))
    assert summary_of(view, NOW_MS + 60_000).behind == ()


def test_a_quorum_that_answers_makes_the_tab_and_the_tile_appear(cluster, collector, collect, viewer, client_of):
    collect()
    collector.look("quorum")
    text = client_of(viewer).get("/").content.decode()
    assert 'href="/quorum/"' not in text
    assert 'href="/zookeeper/"' in client_of(viewer).get("/brokers/").content.decode()
    cluster.quorum.view = quorum(2, (1, 98, 500), (2, 100, 0), (3, 40, 60_000))
    collector.look("quorum")
    assert ">KRaft quorum</a>" in client_of(viewer).get("/brokers/").content.decode()
    assert 'href="/zookeeper/"' not in client_of(viewer).get("/brokers/").content.decode()
    text = client_of(viewer).get("/").content.decode()
    assert "2<small> leads 3 voters, epoch 7</small>" in text
    assert "behind: 3; lag 60" in text
    assert "Voter 3 of the KRaft quorum is behind the leader." in text


def test_a_quorum_that_may_not_be_described_is_known_by_the_feature(
    cluster, collector, collect, viewer, client_of, monkeypatch
):
    collect()
    cluster.quorum.known = (FeatureView("metadata.version", 7, 33, 33),)

    def refuse():
        raise refusal(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    monkeypatch.setattr(cluster.quorum, "describe", refuse)
    collector.look("quorum")
    state = cluster_state()
    assert (bool(state.quorum), bool(state.quorum_error)) == (True, True)
    text = client_of(viewer).get("/").content.decode()
    assert "KRaft quorum" in text
    assert "voters, epoch" not in text


def test_a_quorum_that_does_not_answer_is_unknown_and_no_trouble_of_before_is_told(
    cluster, collector, collect, viewer, client_of
):
    collect()
    cluster.quorum.view = quorum(None, (1, 100, None), (2, 98, 500), (3, 40, 60_000))
    collector.look("quorum")
    assert "has no leader" in client_of(viewer).get("/").content.decode()
    collector.tier_looks["quorum"].failed("No broker answered in time.")
    text = client_of(viewer).get("/").content.decode()
    assert "has no leader" not in text
    assert "No broker answered in time." in text


@pytest.mark.parametrize(
    ("view", "level", "text"),
    [
        (quorum(1, (1, 9, None), (2, 9, 9), (3, 9, 9)), HealthLevel.OK, ""),
        (
            quorum(1, (1, 9, None), (2, 9, 9), (3, 1, 9_000)),
            HealthLevel.WARNING,
            "Voter 3 of the KRaft quorum is behind",
        ),
        (quorum(1, (1, 9, None), (2, 1, 9_000), (3, 1, 9_000)), HealthLevel.CRITICAL, "no majority of voters"),
        (quorum(None, (1, 9, 9), (2, 9, 9), (3, 9, 9)), HealthLevel.CRITICAL, "no leader"),
    ],
)
def test_health_tells_of_a_quorum_that_lost_voters(view, level, text):
    summary = asdict(summary_of(view, NOW_MS))
    health = assess(HealthFacts(is_seen=True, controller_id=1, quorum=summary))
    assert health.level == level
    assert text in " ".join(reason.text for reason in health.reasons)
