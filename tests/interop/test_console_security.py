"""Users and quotas changed on the console's pages and felt by clients, where nobody gets in without a login."""

import subprocess
import sys

import pytest
from confluent_kafka import Producer
from django.contrib.auth.models import User
from django.test import Client

from broker.client.cluster import ClusterConnections, parse_bootstrap_servers
from broker.client.errors import LoginRefused
from broker.client.security.file import read_own_security
from console.cluster.credentials.models import ScramUser
from console.cluster.quotas.models import QuotaRow
from console.kit.audit.models import AuditEvent
from console.kit.gateway.cluster import KafkaGateway
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.client_file import ClientLogin, properties_of, security_of
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.connection.trial import Trial, try_cluster
from console.kit.gateway.zookeeper.znodes import KazooGateway
from console.shell.collector.collector import Collector
from tests.barnabas_cluster import await_true, running_cluster
from tests.console.confirming import digest_in
from tests.secure_broker import written

_SECURED = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:{port}",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:console",
}
_OWN = "sesame-of-the-console"
PASSWORD = "a typed p,ass=word%"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, zookeeper):
    with running_cluster(tmp_path_factory.mktemp("secured"), overrides=_SECURED, zookeeper=zookeeper) as running:
        user = ("--entity-type", "users", "--entity-name", "console")
        added = ("--add-config", f"SCRAM-SHA-256=[iterations=4096,password={_OWN}]")
        line = [
            sys.executable,
            "-m",
            "broker.cli",
            "kafka-configs",
            "--zookeeper",
            running.zookeeper.connect,
            "--alter",
        ]
        subprocess.run([*line, *user, *added], check=True, capture_output=True, timeout=120)
        yield running


@pytest.fixture
def browser(cluster, settings, tmp_path):
    """An administrator's, at a console that logs in as the user console."""
    properties = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n"
    file = written(tmp_path / "client.properties", f"{properties}sasl.username=console\nsasl.password={_OWN}\n")
    znodes = KazooGateway(cluster.zookeeper.connect)
    membership = ConsoleMembership(lambda: znodes)
    settings.CLUSTER_GATEWAY = KafkaGateway(ClusterClient(cluster.bootstrap_servers, file), membership)
    settings.BOOTSTRAP_SERVERS = cluster.bootstrap_servers
    settings.AUDIT_END_FILE, settings.REQUEST_LOG_FILE = tmp_path / "audit-end", tmp_path / "access.log"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    browser = Client()
    browser.force_login(User.objects.create_superuser("admin"))
    yield browser
    settings.CLUSTER_GATEWAY.close()
    znodes.close()


@pytest.fixture
def collector(browser, settings):
    return Collector(settings.CLUSTER_GATEWAY, list)


def confirm(browser, address: str, form: dict, **more: str):
    shown = browser.post(address, form) if form else browser.get(address)
    assert shown.status_code == 200, shown.content.decode()
    return browser.post(address, {**form, "digest": digest_in(shown), **more})


def logs_in(cluster, directory, password: str) -> bool:
    properties = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\n"
    file = written(directory / "alice.properties", f"{properties}sasl.username=alice\nsasl.password={password}\n")
    with ClusterConnections(
        parse_bootstrap_servers(cluster.bootstrap_servers), security=read_own_security(file)
    ) as connections:
        try:
            connections.describe_topics([])
        except LoginRefused:
            return False
    return True


def test_a_user_is_made_given_another_password_and_deleted(browser, collector, cluster, tmp_path):
    form = {"name": "alice", "mechanisms": ["SCRAM-SHA-512"], "iterations": "4096"}
    confirm(browser, "/kafka-users/+create/", form | {"password_is": "typed"}, password=PASSWORD)
    await_true(lambda: logs_in(cluster, tmp_path, PASSWORD), "alice logs in with what was typed")

    collector.look("users")
    alice = ScramUser.objects.get(name="alice")
    assert (alice.mechanisms, alice.rule_count) == ({"SCRAM-SHA-512": 4_096}, 0)
    done = confirm(browser, f"/kafka-users/{alice.pk}/+password/", form | {"password_is": "generated"})
    made = done.context["password"]
    await_true(lambda: logs_in(cluster, tmp_path, made), "alice logs in with what was made")
    assert not logs_in(cluster, tmp_path, PASSWORD)

    confirm(browser, f"/kafka-users/{alice.pk}/+delete/", {}, typed_name="alice")
    await_true(lambda: not logs_in(cluster, tmp_path, made), "alice logs in no more")
    own = ScramUser.objects.get(name="console")
    assert confirm(browser, f"/kafka-users/{own.pk}/+delete/", {}, typed_name="console").status_code == 409
    assert [event.result for event in AuditEvent.objects.order_by("pk")] == ["done", "done", "done", "refused"]
    for log in (broker.log_path.read_text() for broker in cluster.brokers):
        assert PASSWORD not in log
        assert made not in log


def test_a_quota_is_set_felt_seen_beside_its_limit_and_taken_back(browser, collector, cluster):
    form = {"about": "user", "user": "console", "producer_byte_rate": "10 KB"}
    assert confirm(browser, "/quotas/+change/", form).status_code == 302
    collector.look("quotas")
    assert QuotaRow.objects.get().values == {"producer_byte_rate": 10_000.0}

    properties = {"bootstrap.servers": cluster.bootstrap_servers, "security.protocol": "SASL_PLAINTEXT", "linger.ms": 0}
    own = {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "console", "sasl.password": _OWN}
    producer = Producer(properties | own)
    for _ in range(40):
        producer.produce("orders", bytes(5_000))
    producer.flush(5)

    def is_seen_waiting() -> bool:
        collector.look("requests")
        collector.look("quotas")
        producer.produce("orders", bytes(5_000))
        producer.poll(0.2)
        (row,) = QuotaRow.objects.all()
        return any(use.who == "user console" and use.share > 0.5 and use.wait_ms for use in row.seen)

    await_true(is_seen_waiting, "the use of the quota is seen, and that its user waits")
    page = browser.get("/quotas/").content.decode()
    assert "waits" in page
    assert "user console, broker 1" in page
    shown = browser.post("/quotas/+change/", {"about": "user", "user": "console"})
    assert "user console is not limited any more" in shown.content.decode()
    confirm(browser, "/quotas/+change/", {"about": "user", "user": "console"})
    collector.look("quotas")
    assert not QuotaRow.objects.exists()


def test_a_trial_says_at_which_step_a_secured_cluster_stops(cluster):
    """As a cluster is tried before it is added on a page."""

    def tried(login: ClientLogin) -> Trial:
        return try_cluster(cluster.bootstrap_servers, security_of(properties_of(login)))

    right = tried(ClientLogin("SASL_PLAINTEXT", "SCRAM-SHA-256", "console", _OWN))
    assert [step.name for step in right.steps] == ["resolve", "connect", "log in", "metadata", "rights"]
    assert right.error == ""
    assert right.steps[-1].words == "on the cluster it may look, see settings, change things"
    assert tried(ClientLogin("SASL_PLAINTEXT", "SCRAM-SHA-256", "console", "guessed")).error.startswith("log in: ")
    assert tried(ClientLogin("SASL_PLAINTEXT", "PLAIN", "console", _OWN)).error.startswith("log in: ")
    assert tried(ClientLogin()).error.startswith("speak Kafka: ")
    assert tried(ClientLogin("SSL")).error.startswith("TLS: ")
