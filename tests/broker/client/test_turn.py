"""Whose turn it is, while nobody answers: it is asked again and again, and told of once."""

from structlog.testing import capture_logs

from broker.client import turn
from broker.client.cluster import ClusterConnections
from tests.barnabas_cluster import await_true
from tests.zookeeper_server import free_ports


def test_an_outage_is_one_line_of_the_log_however_long(monkeypatch):
    monkeypatch.setattr(turn, "_PAUSE_S", 0.01)
    tries = []
    (port,) = free_ports(1)
    with ClusterConnections([("127.0.0.1", port)], timeout_s=5) as cluster, capture_logs() as lines:
        tried = turn.TurnThread(cluster, "group")
        join = tried._join
        monkeypatch.setattr(tried, "_join", lambda: (tries.append(1), join()))
        tried.start()
        await_true(lambda: len(tries) > 5, "it is asked again")
        tried.stop()
    assert not tried.holds()
    assert [line["event"] for line in lines] == ["result of a turn not sent"]
