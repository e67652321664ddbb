"""PLAIN: three parts, all of them checked, and nothing told of who exists."""

import pytest

from broker.common.security_limits import SASL_TOKEN_BYTES_MAX
from broker.security.sasl.plain import PlainServer, PlainUsers
from broker.security.sasl.server import AuthenticationError, LoggedIn

USERS = PlainUsers({"alice": "secret", "a,b=c/ü": "p\u00e4ss", "empty": "", "": "nameless"}, bytes(32))


def respond(token: bytes) -> LoggedIn:
    return PlainServer(USERS).respond(token)


@pytest.mark.parametrize("token", [b"\0alice\0secret", b"alice\0alice\0secret"])
def test_who_knows_the_password_is_who_it_says(token):
    assert respond(token) == LoggedIn(b"", "User:alice")


def test_names_and_passwords_are_utf_8():
    assert respond("\0a,b=c/ü\0päss".encode()).principal == "User:a,b=c/ü"


INVALID = "Authentication failed: Invalid username or password"
OTHER = "Authentication failed: Client requested an authorization id that is different from username"


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (b"\0alice\0wrong", INVALID),
        (b"\0nobody\0secret", INVALID),
        (b"\0nobody\0\0", None),
        (b"\0empty\0x", INVALID),
        (b"\0alice\0" + b"s" * 3000, INVALID),
        (b"\0Alice\0secret", INVALID),
        (b"bob\0alice\0wrong", INVALID),
        (b"bob\0alice\0secret", OTHER),
        (b"\0\0nameless", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"\0empty\0", "Authentication failed: password not specified"),
        (b"", None),
        (b"alice\0secret", None),
        (b"\0alice\0secret\0", None),
        (b"\0alice\0secret\0more", None),
        (b"\0alice\0\xff", None),
        (b"\0a\0" + b"x" * SASL_TOKEN_BYTES_MAX, None),
    ],
)
def test_everybody_else_is_refused(token, message):
    with pytest.raises(AuthenticationError) as refused:
        respond(token)
    assert refused.value.client_message == message
    assert "secret" not in str(refused.value)
