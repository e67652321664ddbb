"""What SECURE=1 leaves for clients: files by which they are a user each, for nobody else to read."""

import pytest

from console.processes.job_users import (
    PROBE,
    REGISTRY,
    SOURCES,
    STREAMS,
    client_config_of,
    job_client_file,
    job_users,
    user_of_stream,
)
from console.processes.setup import SetupError, read_setup
from console.shell.launch.secure import client_file, kcat_file, prepare_clients

SECURE, PLAIN = (read_setup({"BARNABAS_SECURE": switch}, "local[2]") for switch in ("1", "0"))
pytestmark = pytest.mark.usefixtures("secrets")


@pytest.fixture
def secrets(settings, directories):
    settings.TLS_DIR = settings.SECRETS_DIR / "tls"


def pairs(path) -> dict[str, str]:
    lines = (line for line in path.read_text().splitlines() if not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def test_both_files_say_the_same_in_the_words_of_their_readers(settings):
    prepare_clients(SECURE)
    kafka, kcat = pairs(client_file()), pairs(kcat_file())
    for name in ("security.protocol", "sasl.mechanism"):
        assert kafka[name] == kcat[name]
    assert f'username="{kcat["sasl.username"]}" password="{kcat["sasl.password"]}"' in kafka["sasl.jaas.config"]
    assert kafka["ssl.truststore.location"] == kcat["ssl.ca.location"] == str(settings.TLS_DIR / "ca.pem")
    assert {path.stat().st_mode & 0o777 for path in (client_file(), kcat_file())} == {0o600}


def test_the_password_stays_from_start_to_start():
    prepare_clients(SECURE)
    before = client_file().read_text()
    prepare_clients(SECURE)
    assert client_file().read_text() == before


def test_without_secure_they_are_gone():
    prepare_clients(SECURE)
    prepare_clients(PLAIN)
    assert not client_file().exists()
    assert not kcat_file().exists()


def test_a_file_of_somebody_else_is_neither_overwritten_nor_removed():
    client_file().write_text("security.protocol=SSL\n")
    prepare_clients(PLAIN)
    with pytest.raises(SetupError, match="was not written by"):
        prepare_clients(SECURE)
    assert client_file().read_text() == "security.protocol=SSL\n"


def test_the_demos_processes_are_users_of_their_own():
    prepare_clients(SECURE)
    files = [job_client_file(user) for user in (SOURCES, STREAMS, PROBE)]
    jaas_configs = [pairs(path)["sasl.jaas.config"] for path in (client_file(), *files)]
    users = ("console", SOURCES, STREAMS, PROBE)
    assert [f'username="{user}"' in jaas for user, jaas in zip(users, jaas_configs, strict=True)] == [True] * 4
    assert len({jaas.partition("password=")[2] for jaas in jaas_configs}) == 4
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    prepare_clients(PLAIN)
    assert not any(path.exists() for path in files)


def test_jobs_that_persons_add_log_in_as_the_console(settings):
    settings.CLIENT_CONFIG, settings.CLIENT_CONFIG_IS_NAMED = str(client_file()), False
    prepare_clients(SECURE)
    streams = settings.DATA_DIR / "streams"
    assert client_config_of(user_of_stream(streams / "access-counts")) == str(job_client_file(STREAMS))
    assert client_config_of(user_of_stream(streams / "mine")) == str(client_file())
    prepare_clients(PLAIN)
    assert client_config_of(STREAMS) == ""


def test_a_configuration_that_is_named_is_for_everybody(settings):
    prepare_clients(SECURE)
    settings.CLIENT_CONFIG, settings.CLIENT_CONFIG_IS_NAMED = "/etc/client.properties", True
    assert client_config_of(SOURCES) == "/etc/client.properties"


def test_rights_are_for_what_is_run():
    assert [user.name for user in job_users(SECURE)] == [SOURCES, REGISTRY, STREAMS, PROBE]
    sources, _ = job_users(read_setup({"BARNABAS_DEMO": "0", "BARNABAS_SECURE": "1"}, ""))
    assert {rule.name for rule in sources.rules} == {"connect-", "connect-configs", "connect-offsets", "connect-status"}
    away = {"BARNABAS_DEMO": "0", "BARNABAS_CONNECT_PORT": "0", "BARNABAS_REGISTRY_PORT": "0"}
    assert job_users(read_setup(away, "")) == ()


def test_the_worker_may_tell_the_message_audit_where_it_takes_part():
    audited = {"BARNABAS_DEMO": "0", "BARNABAS_SECURE": "1", "BARNABAS_AUDIT": "1"}
    sources, _ = job_users(read_setup(audited, ""))
    assert {rule.operation for rule in sources.rules if rule.name == "_barnabas_audit"} == {"CREATE", "WRITE"}
