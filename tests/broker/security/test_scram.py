"""The exchange of RFC 7677 byte for byte, and everything that must not pass for it."""

import base64
import hashlib
import hmac

import pytest

from broker.security.scram import (
    AuthenticationError,
    ClientExchange,
    ServerExchange,
    credential_of,
    derive_keys,
)

#: RFC 7677, section 3.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CLIENT_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

KEYS = derive_keys(b"pencil", SALT, 4096)


def client(password: bytes = b"pencil", nonce: str = CLIENT_NONCE, **extensions: str) -> ClientExchange:
    return ClientExchange("user", lambda salt, count: derive_keys(password, salt, count), nonce, extensions)


def server(nonce: str = SERVER_NONCE, seen: list | None = None) -> ServerExchange:
    def credential_for(user, extensions):
        if seen is not None:
            seen.append((user, extensions))
        if user != "user":
            raise AuthenticationError("there is no such user")
        return credential_of(KEYS, SALT, 4096)

    return ServerExchange(credential_for, nonce)


def test_a_client_says_what_rfc_7677_says():
    exchange = client()
    assert exchange.first() == CLIENT_FIRST
    assert exchange.final(SERVER_FIRST) == CLIENT_FINAL
    exchange.verify(SERVER_FINAL)


def test_a_server_says_what_rfc_7677_says():
    exchange = server()
    assert exchange.first(CLIENT_FIRST) == SERVER_FIRST
    assert exchange.final(CLIENT_FINAL) == SERVER_FINAL
    assert exchange.user == "user"


def test_a_wrong_password_convinces_neither_side():
    impostor, ours = client(b"pencils"), server()
    final = impostor.final(ours.first(impostor.first()))
    with pytest.raises(AuthenticationError, match="does not know the password"):
        ours.final(final)
    with pytest.raises(AuthenticationError, match="does not know the password"):
        impostor.verify(SERVER_FINAL)


def test_a_proof_that_was_overheard_is_worth_nothing_later():
    exchange = server(nonce="another")
    exchange.first(CLIENT_FIRST)
    with pytest.raises(AuthenticationError, match="another exchange"):
        exchange.final(CLIENT_FINAL)
    with pytest.raises(AuthenticationError):
        exchange.final(CLIENT_FINAL.replace(SERVER_NONCE.encode(), b"another"))


def test_what_a_client_adds_is_heard_and_proved():
    seen = []
    exchange, ours = client(address="b1:9092"), server(seen=seen)
    first = ours.first(exchange.first())
    assert seen == [("user", {"address": "b1:9092"})]
    exchange.verify(ours.final(exchange.final(first)))

    exchange, ours = client(address="b1:9092"), server()
    first = ours.first(exchange.first().replace(b"b1:9092", b"b2:9092"))
    with pytest.raises(AuthenticationError, match="does not know the password"):
        ours.final(exchange.final(first))


def test_a_name_may_hold_what_separates():
    seen = []
    with pytest.raises(AuthenticationError, match="no such user"):
        server(seen=seen).first(ClientExchange("a=b,c=2C", lambda *_: KEYS, "nonce").first())
    assert seen == [("a=b,c=2C", {})]


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"\xff\xfe",
        b"p=tls-unique,,n=user,r=abc",
        b"y,,n=user,r=abc",
        b"n,,m=must,n=user,r=abc",
        b"n,,n=user,r=",
        b"n,,n=us=er,r=abc",
        b"n,,n=user,r=abc,=1",
        b"n,,n=user\0,r=abc",
        CLIENT_FINAL,
        b"n" * 4096,
    ],
)
def test_a_server_takes_no_other_first_message(token):
    with pytest.raises(AuthenticationError):
        server().first(token)


@pytest.mark.parametrize(
    "token",
    [
        b"",
        CLIENT_FIRST,
        CLIENT_FINAL.replace(b"c=biws", b"c=eSws"),
        CLIENT_FINAL.replace(b"c=biws", b"c=b.ws"),
        CLIENT_FINAL[:-4],
        CLIENT_FINAL.replace(b"p=dHz", b"p="),
        CLIENT_FINAL.replace(b"r=rOpr", b"r=rOpq"),
    ],
)
def test_a_server_takes_no_other_final_message(token):
    exchange = server()
    exchange.first(CLIENT_FIRST)
    with pytest.raises(AuthenticationError):
        exchange.final(token)


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"e=unknown-user",
        SERVER_FIRST.replace(b"r=rOpr", b"r=xOpr"),
        b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        SERVER_FIRST.replace(b"4096", b"4095"),
        SERVER_FIRST.replace(b"4096", b"999999999"),
        SERVER_FIRST.replace(b"4096", b"9" * 5000),
    ],
)
def test_a_client_takes_no_other_answer(token):
    with pytest.raises(AuthenticationError):
        client().final(token)


@pytest.mark.parametrize("token", [b"", b"e=other-error", b"v=", b"v=AAAA", SERVER_FINAL[:-1]])
def test_a_client_takes_no_other_last_answer(token):
    exchange = client()
    exchange.final(SERVER_FIRST)
    with pytest.raises(AuthenticationError):
        exchange.verify(token)


def test_a_client_that_has_proved_nothing_believes_nothing():
    with pytest.raises(AuthenticationError):
        client().verify(SERVER_FINAL)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_the_hash_is_the_mechanisms(mechanism):
    keys = derive_keys(b"pencil", SALT, 4096, mechanism)
    exchange = ClientExchange("user", lambda *_: keys, CLIENT_NONCE, mechanism=mechanism)
    ours = ServerExchange(lambda *_: credential_of(keys, SALT, 4096, mechanism), SERVER_NONCE, mechanism)
    assert ours.first(exchange.first()) == SERVER_FIRST
    exchange.verify(ours.final(exchange.final(SERVER_FIRST)))
    assert len(keys.client_key) == int(mechanism[-3:]) // 8


def test_sha_512_says_what_others_say():
    """Computed apart, for the exchange of RFC 7677."""
    salted = hashlib.pbkdf2_hmac("sha512", b"pencil", SALT, 4096)
    client_key = hmac.digest(salted, b"Client Key", "sha512")
    stored = hashlib.sha512(client_key).digest()
    bare = CLIENT_FIRST.removeprefix(b"n,,")
    signed = b",".join([bare, SERVER_FIRST, CLIENT_FINAL.rpartition(b",p=")[0]])
    proof = bytes(a ^ b for a, b in zip(client_key, hmac.digest(stored, signed, "sha512"), strict=True))
    exchange = ClientExchange(
        "user", lambda *_: derive_keys(b"pencil", SALT, 4096, "SCRAM-SHA-512"), CLIENT_NONCE, mechanism="SCRAM-SHA-512"
    )
    exchange.first()
    assert exchange.final(SERVER_FIRST).rpartition(b",p=")[2] == base64.b64encode(proof)


def test_a_nonce_said_twice_is_heard_and_no_other():
    """librdkafka before 2.6.1 puts its own before what the server has made of it."""
    exchange = server()
    exchange.first(CLIENT_FIRST)
    twice = CLIENT_FINAL.replace(b"r=", b"r=" + CLIENT_NONCE.encode())
    with pytest.raises(AuthenticationError, match="does not know the password"):
        exchange.final(twice)
    with pytest.raises(AuthenticationError, match="another exchange"):
        exchange.final(CLIENT_FINAL.replace(b"r=", b"r=x"))


@pytest.mark.parametrize(
    "token", [b"n,a=admin,n=user,r=abc", b"n,a=,n=user,r=abc", "n,,n=jörg,r=abc".encode(), b"n,,n=,r=abc"]
)
def test_who_would_be_somebody_else_is_refused(token):
    with pytest.raises(AuthenticationError):
        server().first(token)


def test_who_names_itself_twice_is_heard():
    assert server().first(b"n,a=user,n=user,r=abc").startswith(b"r=abc")


def test_a_credential_of_few_iterations_is_not_used():
    few = credential_of(KEYS, SALT, 4095)
    with pytest.raises(AuthenticationError, match="4095 iterations"):
        ServerExchange(lambda *_: few, SERVER_NONCE).first(CLIENT_FIRST)
