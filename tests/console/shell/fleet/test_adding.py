"""A cluster added, changed and removed on a page; nothing of it puts another at risk, and no secret is shown."""

import json
import socket
import stat
import threading
from pathlib import Path

import pytest
from confluent_kafka import Producer

from console.cluster.schemas.client import RegistryAwayError, RegistryClient
from console.cluster.schemas.configuration import RegistryAddress
from console.ecosystem.connectors.asking import NotAskedError, WorkerRequest, ask
from console.ecosystem.connectors.configuration import ConnectSettings
from console.kit.access.models import ClusterRole
from console.kit.audit.models import AuditEvent
from console.kit.common.added_clusters import read_added
from console.kit.common.clusters_file import ClustersFile
from console.kit.common.outbound import ADDRESSES_MAX, AddressRefusedError, checked_addresses, refusal_of
from console.kit.common.reloading import is_asked_to_reload
from console.kit.gateway.connection import trial
from console.kit.gateway.connection.client_file import ClientLogin, properties_of, security_of
from console.kit.gateway.connection.trial import try_cluster
from console.kit.gateway.errors import ClientRefusedError
from console.kit.gateway.zookeeper.four_letter_words import describe_zookeeper
from tests.console.confirming import digest_in
from tests.console.shell.fleet.conftest import ALIAS

pytestmark = pytest.mark.django_db(databases=["default", ALIAS])
ADD = "/clusters/+add/"
PASSWORD = 'it"s a \\ secret = #1'


@pytest.fixture(autouse=True)
def directory(settings, tmp_path) -> Path:
    settings.ADDED_CLUSTERS_DIR, settings.RUN_DIR = tmp_path / "added", tmp_path / "run"
    return settings.ADDED_CLUSTERS_DIR


@pytest.fixture(scope="module")
def kafka() -> str:
    """Brokers of librdkafka's own, within this process, which speak the protocol."""
    producer = Producer({"bootstrap.servers": "none:1", "test.mock.num.brokers": 2, "log_level": 0})
    brokers = producer.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del producer  # its brokers end with it, and not with the interpreter


@pytest.fixture
def admin(administrator, client_of):
    return client_of(administrator)


def fields(**properties) -> dict[str, str]:
    chosen = {"name": "west", "title": "West", "colour": "green", "protocol": "PLAINTEXT", "mechanism": "PLAIN"}
    return chosen | {"bootstrap": "127.0.0.1:1"} | properties


def secured(**properties) -> dict[str, str]:
    login = {"protocol": "SASL_PLAINTEXT", "mechanism": "SCRAM-SHA-256", "username": "console", "password": PASSWORD}
    return fields(**login | properties)


def confirm(client, form: dict[str, str], address: str = ADD):
    """As a person does: tries, reads, and confirms what the page then holds."""
    shown = client.post(address, form)
    assert shown.status_code == 200, shown.text
    return client.post(address, {**dict(shown.context["fields"]), "digest": digest_in(shown)})


def read(directory: Path, *declared: str):
    file = ClustersFile(directory / "clusters.toml", False, directory, lambda _: ConnectSettings(), lambda _: None)
    return read_added(directory, file, {"main", *declared})


class TestPage:
    def test_a_cluster_is_tried_planned_and_kept(self, admin, directory, settings, kafka):
        shown = admin.post(ADD, fields(bootstrap=kafka))
        assert [(step.name, step.error) for step in shown.context["trial"].steps] == [
            ("resolve", ""),
            ("connect", ""),
            ("metadata", ""),
            ("rights", ""),
        ]
        assert "2 brokers" in shown.text
        assert not directory.exists()

        answer = confirm(admin, fields(bootstrap=kafka))
        assert (answer.status_code, answer["Location"]) == (302, "/clusters/")
        assert is_asked_to_reload(settings.RUN_DIR)
        file = read(directory)
        assert file.left_out == {}
        assert (file.clusters["west"].title, file.clusters["west"].values["BOOTSTRAP_SERVERS"]) == ("West", kafka)
        events = [(event.action, event.result) for event in AuditEvent.objects.order_by("pk")]
        assert events == [("try cluster", "done"), ("try cluster", "done"), ("add cluster", "done")]
        assert "It comes when the console" in admin.get("/clusters/").text

    def test_no_page_no_audit_row_and_no_file_of_others_holds_a_secret(self, admin, directory):
        shown = admin.post(ADD, secured(connect="http://127.0.0.1:1", connect_user="c", connect_password="tops3cret"))
        assert PASSWORD not in shown.text
        assert "it&quot;s" not in shown.text
        assert "tops3cret" not in shown.text
        admin.post(ADD, {**dict(shown.context["fields"]), "digest": digest_in(shown)})
        page = admin.get("/clusters/+change/west/").text
        assert "One is kept" in page
        for text in (page, admin.get("/clusters/").text, json.dumps(list(AuditEvent.objects.values()), default=str)):
            assert "tops3cret" not in text
            assert "secret = #1" not in text
        for path in directory.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        values = read(directory).clusters["west"].values
        assert security_of(Path(values["CLIENT_CONFIG"]).read_text()).sasl.password.reveal() == PASSWORD
        assert (directory / "west.connect").read_text() == "c:tops3cret\n"

    def test_a_change_keeps_the_secret_that_is_not_typed_again(self, admin, directory):
        confirm(admin, secured())
        confirm(admin, secured(title="Wild West", password=""), "/clusters/+change/west/")
        values = read(directory).clusters["west"]
        assert values.title == "Wild West"
        kept = Path(values.values["CLIENT_CONFIG"])
        assert security_of(kept.read_text()).sasl.password.reveal() == PASSWORD
        assert AuditEvent.objects.get(action="change cluster").after == {"title": "Wild West"}

        confirm(admin, secured(title="Wild West", password="another one"), "/clusters/+change/west/")
        assert security_of(kept.read_text()).sasl.password.reveal() == "another one"

    def test_a_secret_that_is_of_no_use_any_more_is_in_no_file(self, admin, directory):
        beside = {"schema_registry": "https://127.0.0.1:1", "registry_user": "r", "registry_password": "tops3cret"}
        confirm(admin, secured(**beside))
        assert len(list(directory.iterdir())) == 3
        confirm(admin, fields(schema_registry="https://127.0.0.1:1"), "/clusters/+change/west/")
        (file,) = directory.iterdir()
        assert "s3cret" not in file.read_text()
        assert "secret = #1" not in file.read_text()

    def test_it_is_removed_with_its_secrets_by_typing_its_name(self, admin, directory):
        confirm(admin, secured())
        shown = admin.get("/clusters/+remove/west/")
        digest = digest_in(shown)
        assert admin.post("/clusters/+remove/west/", {"digest": digest, "typed_name": "east"}).status_code == 422
        assert admin.post("/clusters/+remove/west/", {"digest": digest, "typed_name": "west"}).status_code == 302
        assert list(directory.iterdir()) == []

    def test_another_plan_than_the_one_that_was_read_is_refused(self, admin, directory):
        shown = admin.post(ADD, fields())
        again = {**dict(shown.context["fields"]), "bootstrap": "10.0.0.1:9092", "digest": digest_in(shown)}
        assert admin.post(ADD, again).status_code == 409
        assert not directory.exists()

    def test_a_sealed_secret_of_somebody_else_is_none(self, admin, administrator, client_of, django_user_model):
        other = django_user_model.objects.create_superuser("other")
        sealed = dict(client_of(other).post(ADD, secured()).context["fields"])["sealed"]
        assert admin.post(ADD, secured(password="") | {"sealed": sealed}).status_code == 422

    @pytest.mark.parametrize(
        "form",
        [
            {"name": "main"},
            {"name": "../west"},
            {"name": "West"},
            {"bootstrap": "127.0.0.1"},
            {"bootstrap": "127.0.0.1:99999"},
            {"bootstrap": "a:1\nb:2"},
            {"protocol": "SASL_SSL"},
            {"protocol": "NONE"},
            {"protocol": "SSL", "authorities": "no PEM"},
            {"protocol": "SSL", "certificate": "-----BEGIN CERTIFICATE-----"},
            {"connect": "file:///etc/passwd"},
            {"connect": "http://connect:8083", "connect_user": "a", "connect_password": "b"},
            {"schema_registry": "http://user:password@registry"},
            {"schema_registry": "http://registry:8081", "registry_user": "a", "registry_password": "b"},
            {"registry_user": "a", "registry_password": "b"},
            *(
                {"connect": "https://connect:8083", "connect_user": user, "connect_password": password}
                for user, password in (("a:b", "c"), ("ü", "c"), ("a", "ü"), ("a\nb", "c"), ("a", " c"))
            ),
            {"schema_registry": "https://registry:8081", "registry_user": "a", "registry_password": "ü"},
        ],
    )
    def test_what_cannot_be_is_said_beside_the_form_and_nobody_is_asked(self, admin, directory, monkeypatch, form):
        monkeypatch.setattr("console.shell.fleet.change_views.try_cluster", None)
        answer = admin.post(ADD, fields(**form))
        assert answer.status_code == 422 or "There is a cluster main already" in answer.text
        assert not directory.exists()

    def test_a_name_that_is_taken_is_an_obstacle(self, admin, staging):
        shown = admin.post(ADD, fields(name="staging"))
        assert "There is a cluster staging already" in shown.text
        assert admin.post(ADD, {**fields(name="staging"), "digest": "x"}).status_code == 409

    def test_who_is_no_administrator_may_not_and_learns_of_nothing(self, operator, viewer, client_of, staging):
        ClusterRole.objects.create(user=operator, cluster="staging", role="operator")
        for person in (operator, viewer):
            client = client_of(person)
            assert client.get(ADD).status_code == 403
            assert client.post(ADD, fields()).status_code == 403
            assert client.post("/clusters/+remove/west/").status_code == 403
            assert "Add a cluster" not in client.get("/clusters/").text
        assert not AuditEvent.objects.filter(action="try cluster").exists()

    def test_clusters_of_the_file_are_not_changed_here(self, admin, staging):
        assert admin.get("/clusters/+change/staging/").status_code == 404
        assert admin.post("/clusters/+remove/staging/").status_code == 404
        assert admin.get("/c/staging/clusters/+add/")["Location"] == ADD
        assert admin.post("/c/staging/clusters/+remove/west/").status_code == 404


class TestFiles:
    def write(self, directory: Path, name: str, content: object) -> None:
        directory.mkdir(exist_ok=True)
        (directory / f"{name}.json").write_text(json.dumps({"said": content}))
        (directory / f"{name}.json").chmod(0o600)

    def test_one_that_cannot_be_used_leaves_the_others_alone(self, directory):
        self.write(directory, "good", {"bootstrap": "a:1"})
        self.write(directory, "bad", {"bootstrap": "nowhere"})
        self.write(directory, "worse", ["bootstrap"])
        self.write(directory, "open", {"bootstrap": "a:1"})
        (directory / "open.json").chmod(0o644)
        (directory / "torn.json").write_text('{"said"')
        (directory / "torn.json").chmod(0o600)
        self.write(directory, "lost", {"bootstrap": "a:1", "client_config": "/nowhere.properties"})
        file = read(directory)
        assert list(file.clusters) == ["good"]
        assert sorted(file.left_out) == ["bad", "lost", "open", "torn", "worse"]
        assert "can be read by others" in file.left_out["open"]

    def test_the_file_of_the_host_wins(self, directory):
        self.write(directory, "west", {"bootstrap": "a:1"})
        assert read(directory, "west").left_out == {"west": "clusters.toml declares another west."}


def id_of(kafka: str) -> str:
    return try_cluster(kafka, security_of("")).cluster_id


class TestBeside:
    def test_a_worker_of_another_cluster_is_not_taken_for_this_one_s(self, connect, kafka, admin):
        shown = admin.post(ADD, fields(bootstrap=kafka, connect=connect.address))
        assert "belongs to another cluster, fake-cluster" in shown.context["trial"].error

    def test_connect_and_registry_are_tried_with_what_was_typed(self, connect, kafka, admin):
        greeting = {"version": "3.8.0", "commit": "abc", "kafka_cluster_id": id_of(kafka)}
        connect.answers["GET", "/"] = 200, greeting
        form = {"connect": connect.address, "connect_user": "a", "connect_password": "b"}
        shown = admin.post(ADD, fields(bootstrap=kafka, schema_registry="http://127.0.0.1:1", **form))
        steps = {step.name: step for step in shown.context["trial"].steps}
        assert (steps["Connect"].words, steps["Connect"].error) == ("1 of 1 workers answer", "")
        assert "Connection refused" in steps["registry"].error
        assert shown.context["trial"].cluster_id

    @pytest.mark.parametrize("name", ["connect", "schema_registry"])
    def test_they_are_not_asked_where_no_server_is(self, admin, kafka, name):
        shown = admin.post(ADD, fields(bootstrap=kafka, **{name: "http://169.254.169.254/latest"}))
        assert "at which no cluster is" in shown.context["trial"].error

    def test_a_zookeeper_is_not_asked_where_no_server_is(self, admin, kafka):
        shown = admin.post(ADD, fields(bootstrap=kafka, zookeeper="10.0.0.1:2181,169.254.169.254:80/kafka"))
        assert shown.context["trial"].error.startswith("ZooKeeper: 169.254.169.254 is an address at which no cluster")
        (view,) = describe_zookeeper("169.254.169.254:80")
        assert "at which no cluster is" in view.error

    def test_who_is_no_registry_is_told_from_one(self, connect, kafka, admin):
        shown = admin.post(ADD, fields(bootstrap=kafka, schema_registry=connect.address))
        assert shown.context["trial"].error.startswith("registry: ")


class TestTrial:
    def test_the_first_server_that_answers_is_enough(self, kafka):
        trial = try_cluster(f"127.0.0.1:1,{kafka}", security_of(""))
        assert trial.error == ""
        assert trial.cluster_id

    def test_each_step_that_fails_is_named(self, monkeypatch):
        monkeypatch.setattr(trial, "STEP_S", 1.0)
        plain, tls = security_of(""), security_of(properties_of(ClientLogin("SSL")))
        assert try_cluster("no-such-host.invalid:9092", plain).error.startswith("resolve: no-such-host.invalid is no")
        assert try_cluster("127.0.0.1:1", plain).error == "connect: 127.0.0.1:1: Connection refused."
        with silent_server(b"") as port:
            assert try_cluster(f"127.0.0.1:{port}", plain).error.startswith("speak Kafka: ")
        with silent_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
            assert "is it a Kafka broker?" in try_cluster(f"127.0.0.1:{port}", plain).error
            assert try_cluster(f"127.0.0.1:{port}", tls).error.startswith("TLS: ")

    @pytest.mark.parametrize(
        "address",
        [
            *("169.254.169.254", "fe80::1%eth0", "0.0.0.0", "::", "224.0.0.1", "fd00:ec2::254"),
            *("::ffff:169.254.169.254", "64:ff9b::169.254.169.254", "2002:a9fe:a9fe::1", "::169.254.169.254"),
            *("64:ff9b:1::169.254.169.254", "::ffff:0:169.254.169.254", "fd00:ec2::23", "fd20:ce::254"),
            *("fd00:c1::a9fe:a9fe", "fd00:42::42", "100.100.100.200", "::ffff:168.63.129.16"),
        ],
    )
    def test_where_no_cluster_is_nobody_is_asked(self, address):
        assert "at which no cluster is" in refusal_of(address)

    def test_whatever_a_name_stands_for_is_looked_at(self, monkeypatch):
        addresses = [(0, 0, 0, "", (name, 9092)) for name in ("10.0.0.1", "169.254.169.254")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        with pytest.raises(AddressRefusedError, match=r"kafka\.example: 169\.254\.169\.254"):
            checked_addresses("kafka.example", 9092)

    def test_of_a_name_with_very_many_addresses_all_are_judged_and_few_are_tried(self, monkeypatch):
        addresses = [(0, 0, 0, "", (f"10.0.{n // 256}.{n % 256}", 9092)) for n in range(2_000)]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
        assert len(checked_addresses("kafka.example", 9092)) == ADDRESSES_MAX
        addresses.append((0, 0, 0, "", ("169.254.169.254", 9092)))
        with pytest.raises(AddressRefusedError):
            checked_addresses("kafka.example", 9092)

    @pytest.mark.parametrize("address", ["10.0.0.1", "127.0.0.1", "192.168.1.1", "fd00::1", "93.184.216.34"])
    def test_where_clusters_are_is_asked(self, address):
        assert refusal_of(address) == ""

    def test_a_login_says_what_was_typed_whatever_that_is(self):
        for text in ('a"b', "a\\b", "a\\", " a ", "ü", "#!=:", "a\\nb", '";required', "a\u2028b", "\x0b\x85\x1cüa"):
            security = security_of(properties_of(ClientLogin("SASL_PLAINTEXT", "PLAIN", text, text)))
            assert (security.sasl.username, security.sasl.password.reveal()) == (text, text)

    def test_no_line_of_its_own_is_in_what_was_typed(self):
        """A reader may take more than a newline for the end of a line; behind it a file of the host would be named."""
        for end in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029":
            url = "sasl.oauthbearer.token.endpoint.url=file:///x"
            text = end.join(("console", "sasl.mechanism=OAUTHBEARER", "sasl.jaas.config=", url, ""))
            security = security_of(properties_of(ClientLogin("SASL_PLAINTEXT", "PLAIN", text, "secret")))
            assert (security.sasl.mechanism, security.sasl.username, security.sasl.bearer) == ("PLAIN", text, None)

    def test_what_is_no_certificate_is_told_without_repeating_it(self):
        with pytest.raises(ClientRefusedError) as refusal:
            security_of(properties_of(ClientLogin("SSL", authorities="-----hidden-----")))
        assert "hidden" not in str(refusal.value)


class silent_server:
    """Accepts, says one thing, and hangs up."""

    def __init__(self, says: bytes):
        self._says = says

    def __enter__(self) -> int:
        self._socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()
        return self._socket.getsockname()[1]

    def __exit__(self, *_exception) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.recv(4_096)
                connection.sendall(self._says)


def test_a_name_that_leads_elsewhere_after_its_trial_is_not_asked(monkeypatch):
    """DNS rebinding of a Kafka Connect and of a schema registry that were typed on the page of a cluster."""
    link_local = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: link_local)
    with pytest.raises(NotAskedError, match="at which no cluster is"):
        ask(WorkerRequest("GET", "http://connect.example:8083/"))
    with pytest.raises(RegistryAwayError, match="at which no cluster is"):
        RegistryClient(RegistryAddress("http://registry.example:8081")).ask("GET", "subjects")
