"""SCRAM with accounts: who has none is answered like everybody else, on every broker, until the end."""

import base64

import pytest

from broker.common.security_limits import SASL_TOKEN_BYTES_MAX
from broker.security.sasl.scram_server import ScramServer, unknown_user_accounts
from broker.security.sasl.server import AuthenticationError, LoggedIn, ScramAccount
from broker.security.scram import SALT_LENGTH, ClientExchange, credential_of, derive_keys

SALTS = {"SCRAM-SHA-256": b"0123456789abcdefghijklmnop", "SCRAM-SHA-512": bytes(range(64))}
MECHANISMS = tuple(SALTS)


def credential(mechanism: str, iterations: int = 4096):
    keys = derive_keys(b"secret", SALTS[mechanism], iterations, mechanism)
    return credential_of(keys, SALTS[mechanism], iterations, mechanism)


KNOWN = {mechanism: credential(mechanism) for mechanism in MECHANISMS}


def server(mechanism: str, nonce: str = "server", *, like=KNOWN, secret: bytes = b"cluster") -> ScramServer:
    def account(user, extensions):
        if user != "alice":
            return None
        return ScramAccount(KNOWN[mechanism], "User:alice", 7 if extensions else None, is_by_token=bool(extensions))

    return ScramServer(mechanism, account, unknown_user_accounts(secret, like.get), nonce)


def client(mechanism: str, user: str = "alice", password: bytes = b"secret", **extensions: str) -> ClientExchange:
    def keys(salt, iterations):
        return derive_keys(password, salt, iterations, mechanism)

    return ClientExchange(user, keys, "client", extensions, mechanism=mechanism)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_both_know_each_other_at_the_end(mechanism):
    ours, theirs = server(mechanism), client(mechanism)
    logged_in = ours.respond(theirs.final(ours.respond(theirs.first())))
    assert logged_in == LoggedIn(logged_in.answer, "User:alice")
    theirs.verify(logged_in.answer)


def test_what_the_account_says_of_itself_is_passed_on():
    ours, theirs = server("SCRAM-SHA-512"), client("SCRAM-SHA-512", tokenauth="true")
    logged_in = ours.respond(theirs.final(ours.respond(theirs.first())))
    assert (logged_in.expires_ms, logged_in.is_by_token) == (7, True)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [("alice", b"wrong"), ("nobody", b"secret"), ("", b"secret")])
def test_who_is_unknown_fails_where_a_wrong_password_does(mechanism, user, password):
    ours, theirs = server(mechanism), client(mechanism, user or "someone", password)
    final = theirs.final(ours.respond(theirs.first()))
    with pytest.raises(AuthenticationError) as refused:
        ours.respond(final)
    assert refused.value.client_message is None


def first_of(user: str, mechanism: str, **settings) -> tuple[bytes, int]:
    answer = server(mechanism, **settings).respond(client(mechanism, user).first()).decode()
    fields = dict(part.split("=", 1) for part in answer.split(","))
    return base64.b64decode(fields["s"]), int(fields["i"])


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_strangers_salt_is_always_the_same_and_looks_like_the_others(mechanism):
    salt, iterations = first_of("nobody", mechanism)
    assert (salt, iterations) == first_of("nobody", mechanism, nonce="another")
    assert salt not in (first_of("somebody", mechanism)[0], first_of("nobody", mechanism, secret=b"other cluster")[0])
    assert len(salt) == len(SALTS[mechanism])
    assert salt.isalnum() == SALTS[mechanism].isalnum()


def test_a_strangers_iterations_are_the_others():
    assert first_of("nobody", "SCRAM-SHA-256", like={"SCRAM-SHA-256": credential("SCRAM-SHA-256", 8192)})[1] == 8192


def test_where_nobody_is_known_strangers_look_as_kafka_would_make_them():
    salt, iterations = first_of("nobody", "SCRAM-SHA-256", like={})
    assert (len(salt), salt.isalnum(), iterations) == (SALT_LENGTH, True, 4096)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_was_heard_of_a_login_is_worth_nothing_in_another(mechanism):
    heard, theirs = server(mechanism), client(mechanism)
    final = theirs.final(heard.respond(theirs.first()))
    heard.respond(final)
    ours = server(mechanism, nonce="fresh")
    ours.respond(client(mechanism).first())
    for replayed in (final, final.replace(b"clientserver", b"clientfresh")):
        with pytest.raises(AuthenticationError):
            ours.respond(replayed)


def test_a_login_begins_with_its_first_message():
    with pytest.raises(AuthenticationError):
        server("SCRAM-SHA-256").respond(b"c=biws,r=clientserver,p=AAAA")


def test_a_token_has_a_bound():
    with pytest.raises(AuthenticationError, match="a token of"):
        server("SCRAM-SHA-256").respond(b"n,,n=" + b"x" * SASL_TOKEN_BYTES_MAX + b",r=abc")
