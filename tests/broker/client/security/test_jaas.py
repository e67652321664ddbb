import pytest

from broker.client.security.errors import ClientConfigError
from broker.client.security.jaas import parse_jaas

_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f'{_SCRAM} required username="ann" password="a\\"b\\\\c";', {"username": "ann", "password": 'a"b\\c'}),
        (f'{_SCRAM} required\n  username="ann"\n  password="x;y=z" ;', {"username": "ann", "password": "x;y=z"}),
        (f"{_SCRAM} REQUIRED username=ann tokenauth=true;", {"username": "ann", "tokenauth": "true"}),
        (f"{_SCRAM} required;", {}),
        (f'{_SCRAM} required username="";', {"username": ""}),
    ],
)
def test_a_login_module_is_read_as_java_writes_it(text, options):
    assert parse_jaas(text) == ("ScramLoginModule", options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ScramLoginModule",
        f'{_SCRAM} required username="zoe" password="sesame"',
        f'{_SCRAM} required username="zoe" password="sesame;',
        f'{_SCRAM} required username="zoe" "sesame";',
        f'{_SCRAM} required password="sesame"; {_SCRAM} required;',
    ],
)
def test_what_is_no_login_module_is_refused_and_not_repeated(text):
    with pytest.raises(ClientConfigError, match=r"sasl\.jaas\.config cannot be read") as refused:
        parse_jaas(text)
    assert "sesame" not in str(refused.value)
    assert "zoe" not in str(refused.value)
