"""`stream-ledger` lists what queries have written and forgets one, which a lost part of a batch needs."""

import pytest

from broker.cli import stream_ledger
from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.coordinators import Coordinators
from broker.client.transactions import init_producer
from broker.common.errors import StartupError
from broker.spark.ledger import SinkCommitLog
from tests.barnabas_cluster import running_cluster


@pytest.fixture(scope="module")
def bootstrap_servers(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("cluster"), zookeeper=zookeeper) as cluster:
        yield cluster.bootstrap_servers


def test_ledgers_are_listed_and_forgotten_by_name(bootstrap_servers, capsys):
    at = ["--bootstrap-server", bootstrap_servers]
    assert stream_ledger.main(at) == 1
    with ClusterConnections(parse_bootstrap_servers(bootstrap_servers)) as cluster:
        for name in ("payments", "visits"):
            SinkCommitLog(name, cluster, Coordinators(cluster)).enter("some-run")
        init_producer(Coordinators(cluster), "of-nobody", 60_000)
    assert stream_ledger.main(at) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["payments", "visits"]
    assert stream_ledger.main([*at, "--forget", "visit"]) == 1
    assert "There is no ledger visit;" in capsys.readouterr().out
    assert stream_ledger.main([*at, "--forget", "visits"]) == 0
    capsys.readouterr()
    stream_ledger.main(at)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["payments"]


def test_cluster_that_is_not_there_is_said_in_one_sentence():
    with pytest.raises(StartupError, match="cannot connect to"):
        stream_ledger.main(["--bootstrap-server", "127.0.0.1:1"])
