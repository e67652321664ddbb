"""The login module of a client's properties, read as a broker reads its own."""

import pytest

from broker.client.security.errors import ClientConfigError
from broker.client.security.properties import read_security

_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def login_of(text):
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": text}
    sasl = read_security(properties).sasl
    return sasl.username, sasl.password.reveal(), sasl.is_delegation_token


@pytest.mark.parametrize(
    ("text", "login"),
    [
        (f'{_SCRAM} required username="ann" password="a\\"b\\\\c";', ("ann", 'a"b\\c', False)),
        (f'{_SCRAM} required\n  username="ann"\n  password="x;y=z" ;', ("ann", "x;y=z", False)),
        (f"{_SCRAM} REQUIRED username=ann password=p tokenauth=true;", ("ann", "p", True)),
        (f"{_SCRAM} required username='ann' // who\n password=\"\\101\"; /* done */", ("ann", "A", False)),
        ('shaded.ScramLoginModule required username="ann" password="p";', ("ann", "p", False)),
    ],
)
def test_a_login_module_is_read_as_java_writes_it(text, login):
    assert login_of(text) == login


@pytest.mark.parametrize(
    "text",
    [
        "// nothing",
        "ScramLoginModule",
        f'{_SCRAM} required username="zoe" password="sesame"',
        f'{_SCRAM} required username="zoe" password="sesame;',
        f'{_SCRAM} required username="zoe" "sesame";',
        f'{_SCRAM} required password="sesame"; {_SCRAM} required;',
    ],
)
def test_what_is_no_login_module_is_refused_and_not_repeated(text):
    with pytest.raises(ClientConfigError, match=r"sasl\.jaas\.config cannot be read") as refused:
        login_of(text)
    assert "sesame" not in str(refused.value)
    assert "zoe" not in str(refused.value)
