"""A file of properties: whose it is to read, and how Java escapes what is in it."""

import pytest

from broker.client.security.errors import ClientConfigError
from broker.client.security.file import exposure, read_client_properties, read_own_security
from broker.client.security.properties import PLAINTEXT

_LOGIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
_JAAS = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"


def test_a_file_is_read_as_java_reads_it(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text(_LOGIN + _JAAS + '  username="ann" password="a\\\\"b\\\\\\\\c";\nkey.separator=\\t\n')
    path.chmod(0o600)
    security = read_own_security(str(path))
    assert security.sasl.password.reveal() == 'a"b\\c'
    assert read_client_properties(str(path))["key.separator"] == "\t"


def test_no_file_is_a_plain_client_and_a_missing_one_is_told(tmp_path):
    assert read_own_security("") == PLAINTEXT
    with pytest.raises(ClientConfigError, match="none cannot be read: No such file"):
        read_own_security(str(tmp_path / "none"))
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(ClientConfigError, match="it is no text"):
        read_own_security(str(tmp_path / "binary"))


@pytest.mark.parametrize(
    ("mode", "is_closed"), [(0o600, True), (0o400, True), (0o640, True), (0o644, False), (0o602, False)]
)
def test_a_password_that_others_may_read_or_change_is_refused(tmp_path, mode, is_closed):
    path = tmp_path / "client.properties"
    path.write_text(_LOGIN + "sasl.username=ann\nsasl.password=sesame\n")
    path.chmod(mode)
    if is_closed:
        assert read_own_security(str(path)).sasl.username == "ann"
        return
    with pytest.raises(ClientConfigError, match=f"has mode {mode:04o}: .*chmod 600 {path}") as refused:
        read_own_security(str(path))
    assert "sesame" not in str(refused.value)


def test_what_holds_no_secret_may_be_open(tmp_path):
    path = tmp_path / "client.properties"
    path.write_text("security.protocol=SSL\nssl.truststore.location=ca.pem\n")
    path.chmod(0o644)
    assert exposure(str(path), read_client_properties(str(path))) == ""
