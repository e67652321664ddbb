"""The page of the KRaft quorum: leader, lag, silent voters, and that a cluster has none."""

import pytest

from console.cluster.quorum.members import is_writable, members_of
from console.kit.gateway.quorum.interface import FeatureView, QuorumReplicaView, QuorumView

NOW_MS = 1_000_000


def quorum(leader: int | None, *voters: tuple[int, int, int | None]) -> QuorumView:
    """Voters: id, log end offset, ms since the last fetch."""
    views = tuple(
        QuorumReplicaView(each, end, None if ago is None else NOW_MS - ago, None if ago is None else NOW_MS - ago)
        for each, end, ago in voters
    )
    return QuorumView(leader, 7, 90, views, ())


def test_lag_is_counted_from_the_leader_and_a_silent_voter_is_named():
    view = quorum(1, (3, 40, 60_000), (1, 100, None), (2, 98, 500))
    members = members_of(view, NOW_MS)
    assert [(each.replica.replica_id, each.role, each.lag, each.is_silent) for each in members] == [
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


def test_the_page_shows_quorum_and_features(cluster, viewer, client_of):
    cluster.quorum.view = quorum(1, (1, 100, None))
    cluster.quorum.known = (FeatureView("metadata.version", 7, 33, 33), FeatureView("group.version", 0, 1, None))
    text = client_of(viewer).get("/quorum/").content.decode()
    assert "metadata can be changed" in text
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


def test_it_is_a_tab_of_brokers_in_place_of_zookeeper(cluster, viewer, client_of, settings):
    assert 'href="/quorum/"' not in client_of(viewer).get("/brokers/").content.decode()
    settings.ZOOKEEPER = ""
    text = client_of(viewer).get("/brokers/").content.decode()
    assert 'href="/quorum/"' in text
    assert 'href="/zookeeper/"' not in text
