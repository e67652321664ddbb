"""How source and sink reach a cluster: by a file's path, for what is in options is in plans and event logs."""

import pickle

import pytest

from broker.client.errors import LoginRefused
from broker.client.security.file import CONFIG_VARIABLE
from broker.spark.client_settings import cluster_of, read_sink_settings, read_source_settings, security_of
from broker.spark.failures import Cure, cure_of, reason_of
from tests.secure_broker import SecureBroker, written

_LOGIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=spark\nsasl.password={}\n"


def options(broker: SecureBroker, file: str = "", **more: str) -> dict[str, str]:
    named = {"kafka.client.config": file} if file else {}
    return {"kafka.bootstrap.servers": broker.address, **named, **more}


@pytest.mark.parametrize("read", [read_source_settings, read_sink_settings])
def test_what_travels_to_workers_has_the_path_and_no_password(tmp_path, read):
    with SecureBroker(mechanism="SCRAM-SHA-512", users={"spark": "sesame"}) as broker:
        client = read(options(broker, written(tmp_path / "client.properties", _LOGIN.format("sesame"))))
        travelled = pickle.dumps(client)
        assert b"sesame" not in travelled
        assert "sesame" not in repr(client)
        with cluster_of(pickle.loads(travelled)) as cluster:
            assert cluster.describe_topics([]).cluster_id == "secured"
        assert broker.came == ["spark"]


def test_a_process_that_is_told_nothing_looks_where_its_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv(CONFIG_VARIABLE, written(tmp_path / "client.properties", _LOGIN.format("sesame")))
    with SecureBroker() as broker:
        assert security_of(read_source_settings(options(broker))).sasl.username == "spark"


def test_options_without_a_secret_win_over_the_file(tmp_path):
    file = written(tmp_path / "client.properties", _LOGIN.format("sesame"))
    with SecureBroker() as broker:
        client = read_source_settings(options(broker, file, **{"kafka.Sasl.Mechanism": "PLAIN"}))
    assert security_of(client).sasl.mechanism == "PLAIN"


def test_a_login_that_is_refused_is_for_a_person():
    failure = f"Traceback …\nbroker.client.errors.{LoginRefused.__name__}: the broker at h:1 does not let us in: no\n"
    assert cure_of(failure) is Cure.A_PERSON
    assert reason_of(failure) == "the broker at h:1 does not let us in: no"
