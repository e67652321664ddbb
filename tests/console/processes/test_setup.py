"""What the environment means, and the sentence about what it cannot mean."""

import pytest

from console.processes.setup import SetupError, read_setup


def test_nothing_set_is_three_brokers_and_everything_embedded():
    setup = read_setup({}, "local[2]")
    assert setup.bootstrap_servers == "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094"
    assert (setup.zookeeper, setup.zookeeper_port, setup.demo) == ("127.0.0.1:2181", 2181, True)
    assert [setup.metrics_port_of_broker(number) for number in (1, 2, 3)] == [9192, 9193, 9194]


@pytest.mark.parametrize(("text", "is_secure"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_it_is_secured_if_somebody_says_so(text, is_secure):
    assert read_setup({"BARNABAS_SECURE": text}, "local[2]").is_secure is is_secure


def test_brokers_from_elsewhere_are_secured_by_whom_they_belong_to():
    environment = {"BARNABAS_SECURE": "1", "BARNABAS_BROKERS": "0", "BARNABAS_BOOTSTRAP_SERVERS": "kafka:9092"}
    assert not read_setup(environment, "local[2]").is_secure


def test_zookeeper_from_elsewhere_is_not_started_here():
    setup = read_setup({"BARNABAS_ZOOKEEPER": "zk1:2181,zk2:2181/kafka"}, "local[2]")
    assert (setup.zookeeper, setup.zookeeper_port) == ("zk1:2181,zk2:2181/kafka", None)


def test_documents_are_found_from_where_the_person_stands(tmp_path, monkeypatch):
    (tmp_path / "a.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert read_setup({"BARNABAS_DOCUMENTS": "a.txt"}, "").documents == (tmp_path / "a.txt",)


def test_a_document_with_spaces_in_its_name_stands_in_quotes(tmp_path):
    path = tmp_path / "my notes.txt"
    path.touch()
    assert read_setup({"BARNABAS_DOCUMENTS": f"'{path}'"}, "").documents == (path,)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"BARNABAS_BROKERS": "many"}, "BARNABAS_BROKERS=many must be a number from 0 to 50."),
        ({"BARNABAS_BROKER_PORT": "0"}, "BARNABAS_BROKER_PORT=0 must be a number"),
        ({"BARNABAS_ZOOKEEPER_PORT": "99999"}, "BARNABAS_ZOOKEEPER_PORT=99999 must be"),
        ({"BARNABAS_BROKERS": "0"}, "BARNABAS_BOOTSTRAP_SERVERS"),
        ({"BARNABAS_MIRROR": "1", "BARNABAS_SECURE": "1"}, "has no TLS and logins: leave out --secure"),
        (
            {"BARNABAS_MIRROR": "1", "BARNABAS_BROKERS": "0", "BARNABAS_BOOTSTRAP_SERVERS": "kafka:9092"},
            "needs brokers that are started here",
        ),
        ({"BARNABAS_SECURED": "1"}, "BARNABAS_SECURED is called BARNABAS_SECURE now. Set BARNABAS_SECURE=1 instead"),
        ({"BARNABAS_DOCUMENTS": "/no/such.txt"}, "/no/such.txt, which is not a file"),
        ({"BARNABAS_DOCUMENTS": "'/no/such.txt"}, "a quote that does not end"),
    ],
)
def test_setting_that_cannot_be_right_is_named(environment, named):
    with pytest.raises(SetupError, match=named.replace(".", r"\.")):
        read_setup(environment, "")


def test_beside_brokers_from_elsewhere_nothing_is_started_that_was_not_asked_for():
    """No ZooKeeper that no broker uses, no demo, probe or worker that makes topics in a foreign cluster."""
    elsewhere = {"BARNABAS_BROKERS": "0", "BARNABAS_BOOTSTRAP_SERVERS": "kafka:9092"}
    setup = read_setup(elsewhere, "")
    assert (setup.zookeeper, setup.zookeeper_port) == ("", None)
    assert (setup.demo, setup.has_probe, setup.connect_port, setup.registry_port) == (False, False, None, None)
    own_setup = read_setup(elsewhere | {"BARNABAS_ZOOKEEPER_PORT": "2182", "BARNABAS_DEMO": "1"}, "")
    assert (own_setup.zookeeper, own_setup.zookeeper_port, own_setup.demo, own_setup.has_probe) == (
        "127.0.0.1:2182",
        2182,
        True,
        True,
    )
