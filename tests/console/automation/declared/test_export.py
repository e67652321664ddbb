"""Today's cluster as a file: what it says is what is there, and nothing that may not be seen."""

from console.kit.gateway.quotas.interface import QuotaEntity
from tests.console.cluster.acls.rules import on_cluster
from tests.console.ecosystem.connectors.lying_server import connector

EXPORT = "/declaration/+export/"


def fill(cluster, collect):
    cluster.create_topic("orders", 3, 2, {"retention.ms": "1000", "cleanup.policy": "compact,delete"})
    cluster.create_topic("secret-plans", 1, 1)
    cluster.create_topic("__consumer_offsets", 1, 1)
    cluster.groups.commit("readers", "orders", 0, 0)
    cluster.groups.commit("spies", "secret-plans", 0, 0)
    cluster.quotas.change(QuotaEntity(user="no"), {"producer_byte_rate": 1e6, "request_percentage": 12.5})
    cluster.quotas.change(QuotaEntity(ip="<default>"), {"connection_creation_rate": 5.0})
    collect()


def test_what_is_exported_declares_what_is_there(files, administrator, secured, collect, client_of, connect):
    fill(secured, collect)
    secured.acls.create([on_cluster("User:on", "ALTER")])
    connect.connectors["in"] = connector("in", **{"tasks.max": "1", "db.password": "hunter2", "file": "/x"})
    response = client_of(administrator).get(EXPORT)
    text = response.content.decode()
    assert response.headers["Content-Type"].startswith("application/yaml")
    assert "hunter2" not in text
    assert "__consumer_offsets" not in text
    compared = files(administrator, text).compare()
    assert compared.status_code == 200, compared.context["problems"]
    declared = compared.context["made"]
    assert (declared.parts, declared.unplanned) == ((), ())
    assert {"orders:", "secret-plans:", "readers: {}", "in:", "user: 'no'"} <= {
        part.strip(" -") for part in text.split("\n")
    }


def test_what_is_hidden_is_not_in_it(limited, cluster, collect, client_of, connect):
    fill(cluster, collect)
    connect.connectors["secret-in"] = connector("secret-in")
    text = client_of(limited).get(EXPORT).content.decode()
    assert "orders" in text
    assert "secret" not in text
    assert "spies" not in text
    assert "# quotas are left out: This names topics and groups" in text


def test_only_what_is_asked_for(administrator, cluster, collect, client_of):
    fill(cluster, collect)
    text = client_of(administrator).get(EXPORT, {"only": "topics", "names": "ord*"}).content.decode()
    assert [line for line in text.splitlines() if not line.startswith(("#", " "))] == ["topics:"]
    assert "secret" not in text


def test_a_cluster_without_an_authorizer_is_exported_without_rules(administrator, cluster, collect, client_of):
    fill(cluster, collect)
    text = client_of(administrator).get(EXPORT).content.decode()
    assert "# acls are left out:" in text
    assert "topics:" in text
