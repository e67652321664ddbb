"""Commands before a broker that wants to know who they are: every door a client's properties come in by."""

import subprocess
import sys

import pytest

from broker.cli.commands import load
from broker.cli.frame.running import run
from tests.certificates import Authority
from tests.secure_broker import SecureBroker, server_context

_JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="ann" password="{}";'


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60)


@pytest.fixture
def broker(tmp_path):
    authority = Authority()
    (tmp_path / "ca.pem").write_text(authority.pem)
    context = server_context(authority.server(), tmp_path / "broker.pem")
    with SecureBroker(tls=context, mechanism="SCRAM-SHA-512", users={"ann": "sesame"}) as served:
        yield served


def properties(tmp_path, mode: int = 0o600, password: str = "sesame") -> str:
    path = tmp_path / "client.properties"
    path.write_text(
        "security.protocol=SASL_SSL\nssl.truststore.type=PEM\n"
        f"ssl.truststore.location={tmp_path}/ca.pem\nsasl.mechanism=SCRAM-SHA-512\n"
        f"sasl.jaas.config={_JAAS.format(password)}\n"
    )
    path.chmod(mode)
    return str(path)


def outcome_of(capsys, name: str, *typed: str) -> tuple[int, str, str]:
    status = run(load(name), list(typed))
    out, err = capsys.readouterr()
    return status, out, err


def at(broker: SecureBroker) -> tuple[str, str]:
    return "--bootstrap-server", broker.address


@pytest.mark.parametrize(
    ("name", "option", "typed"),
    [
        ("kafka-topics", "command-config", ("--list",)),
        ("kafka-cluster", "config", ("cluster-id",)),
        ("kafka-broker-api-versions", "command-config", ()),
    ],
)
def test_a_command_logs_in_as_its_properties_say(tmp_path, capsys, broker, name, option, typed):
    status, _, err = outcome_of(capsys, name, *typed, *at(broker), f"--{option}", properties(tmp_path))
    assert (status, err) == (0, "")
    assert set(broker.came) == {"ann"}


def test_a_wrong_password_is_one_sentence(tmp_path, capsys, broker):
    file = properties(tmp_path, password="guess")
    status, out, err = outcome_of(capsys, "kafka-topics", "--list", *at(broker), "--command-config", file)
    assert (status, out) == (1, "")
    assert "does not let us in" in err
    assert err.count("\n") == 1
    assert "guess" not in err


def test_a_file_that_others_may_read_is_used_and_told(tmp_path, capsys, broker):
    file = properties(tmp_path, mode=0o644)
    status, _, err = outcome_of(capsys, "kafka-topics", "--list", *at(broker), "--command-config", file)
    assert status == 0
    assert err == f"WARNING: {file} holds a password and has mode 0644: others may read it; chmod 600 {file}\n"


def test_properties_that_cannot_be_right_are_one_sentence(tmp_path, capsys, broker):
    path = tmp_path / "client.properties"
    path.write_text("security.protocol=SASL_SSL\n")
    status, _, err = outcome_of(capsys, "kafka-topics", "--list", *at(broker), "--command-config", str(path))
    assert status == 1
    assert err.startswith("sasl.mechanism=GSSAPI, which is Kafka's default, is not spoken here")
    assert err.count("\n") == 1


def test_a_password_that_is_typed_is_used_and_told(capsys):
    with SecureBroker(mechanism="PLAIN", users={"ann": "sesame"}) as broker:
        pairs = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "ann"}
        typed = [f"--producer-property={name}={text}" for name, text in (pairs | {"sasl.password": "sesame"}).items()]
        line = ["kafka-verifiable-producer", *at(broker), "--topic", "t", "--max-messages", "0", *typed]
        ended = ran("-m", "broker.cli", *line)
    assert "WARNING: sasl.password on a command line can be read by every user of this host" in ended.stderr
    assert "sesame" not in ended.stdout + ended.stderr


def test_a_plain_command_imports_nothing_of_tls():
    code = (
        "import sys\nimport broker.cli.frame.connecting, broker.client.connection, broker.cli.kafka_topics\n"
        "names = ('ssl', 'cryptography', 'confluent_kafka', 'broker.client.security')\n"
        "print([each for each in sys.modules if each.startswith(names)])"
    )
    assert ran("-c", code).stdout == "[]\n"
