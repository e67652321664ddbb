"""JAAS as people have it in files, and everything that is not taken for it."""

import pytest

from broker.security.sasl.jaas import parse_jaas, plain_users

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{SCRAM} required;", {}),
        (f'  {PLAIN}  Required username="a" password="p" ;  ', {"username": "a", "password": "p"}),
        (f"{PLAIN} required username='a' user_b=word-1.x;", {"username": "a", "user_b": "word-1.x"}),
        (f'{PLAIN} required\n  user_a = "x" // why\n /* and; how */ user_b="y";', {"user_a": "x", "user_b": "y"}),
        (rf'{PLAIN} required user_a="q\"u;o=t\\e\u" user_b="\t\101";', {"user_a": 'q"u;o=t\\eu', "user_b": "\tA"}),
        (f'{PLAIN} required user_a="";', {"user_a": ""}),
        (f'{PLAIN} required user_a="1" user_a="2";', {"user_a": "2"}),
    ],
)
def test_a_login_module_and_its_options(text, options):
    assert parse_jaas(text).options == options


def test_users_of_plain():
    text = f'{PLAIN} required username="admin" password="x" user_alice="1" user_a.b-c="2" user_user_x="3";'
    assert plain_users(parse_jaas(text)) == {"alice": "1", "a.b-c": "2", "user_x": "3"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no login module"),
        ("// nothing", "no login module"),
        (f'{PLAIN} required user_a="geheim"', "semicolon"),
        (f'{PLAIN} required user_a="geheim; ', "name="),
        (f"{PLAIN};", "control flag"),
        (f'{PLAIN} user_a="geheim";', "control flag"),
        (f'{PLAIN} required user_a="geheim"; {SCRAM} required;', "more than one"),
        (f'{PLAIN} required user_a "geheim";', "name="),
        (f'{PLAIN} required user_a="geheim" user_b;', "name="),
        (f"{PLAIN} required user_a=;", "name="),
        (
            'com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://geheim/x";',
            "JndiLoginModule",
        ),
        ("PlainLoginModule required;", "PlainLoginModule"),
        ('"x" required;', "login module x;"),
    ],
)
def test_everything_else_is_refused_without_repeating_it(text, words):
    with pytest.raises(ValueError, match=words) as refused:
        parse_jaas(text)
    assert "geheim" not in str(refused.value)


def test_it_shows_no_password():
    assert "geheim" not in repr(parse_jaas(f'{PLAIN} required user_a="geheim";'))
