"""Which bearer tokens are believed, as tables; the clock is given in."""

import hmac
import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from broker.common.security_limits import BEARER_TOKEN_BYTES_MAX, KEY_ID_LENGTH_MAX, KEYS_IN_SET_MAX
from broker.security.bearer_tokens import Bearer, BearerRules, TokenHeader, TokenRefused, read_claims, read_header
from broker.security.key_set import KeySetUnreadable, checked_payload, read_key_set
from tests.bearer import Issuer, segment

NOW_S = 1_700_000_000
RULES = BearerRules("https://issuer", ("kafka", "other"), 30_000)
CLAIMS = {"sub": "alice", "iat": NOW_S, "exp": NOW_S + 60, "iss": "https://issuer", "aud": "kafka"}


@pytest.fixture(scope="module")
def issuer():
    return Issuer()


def believed(changes=(), rules=RULES, now_s=NOW_S):
    claims = {name: value for name, value in {**CLAIMS, **dict(changes)}.items() if value is not None}
    return read_claims(json.dumps(claims).encode(), rules, now_s * 1000)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"aud": ["nobody", "other"]},
        {"iat": NOW_S + 30},
        {"nbf": NOW_S + 30},
        {"scope": "read"},
        {"scope": "read read"},
        {"scope": ["read", "write"]},
        {"sub": " alice "},
    ],
)
def test_a_good_token_says_who_it_is_and_until_when(changes):
    assert believed(changes) == Bearer("alice", (NOW_S + 60) * 1000)


def test_a_time_may_have_a_fraction():
    assert believed({"exp": NOW_S + 0.5}).expires_ms == NOW_S * 1000 + 500


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"exp": None}, "exp or iat is missing"),
        ({"iat": None}, "exp or iat is missing"),
        ({"exp": NOW_S - 30}, "expired"),
        ({"exp": str(NOW_S + 60)}, "exp is no time"),
        ({"exp": True}, "exp is no time"),
        ({"exp": 1e999}, "exp is no time"),
        ({"exp": float("nan")}, "exp is no time"),
        ({"exp": 2**62}, "exp is no time"),
        ({"exp": 10**400}, "exp is no time"),
        ({"exp": -1}, "exp is no time"),
        ({"iat": NOW_S + 31}, "not valid yet"),
        ({"nbf": NOW_S + 31}, "not valid yet"),
        ({"nbf": "soon"}, "nbf is no time"),
        ({"iss": "https://issuer/"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"iss": ["https://issuer"]}, "another issuer"),
        ({"aud": None}, "another audience"),
        ({"aud": "Kafka"}, "another audience"),
        ({"aud": []}, "another audience"),
        ({"aud": {"kafka": 1}}, "another audience"),
        ({"aud": [["kafka"]]}, "another audience"),
        ({"sub": None}, "names no user"),
        ({"sub": " "}, "names no user"),
        ({"sub": 5}, "names no user"),
        ({"sub": "a\nb"}, "names no user"),
        # Who is that is trusted as a broker.
        ({"sub": "__cluster"}, "names no user"),
        ({"sub": " __cluster "}, "names no user"),
        ({"scope": ["read", "read"]}, "scope is named twice"),
        ({"scope": ["read", " read "]}, "scope is named twice"),
        ({"scope": ["read", ""]}, "no list of texts"),
        ({"scope": 5}, "no list of texts"),
    ],
)
def test_a_bad_token_is_refused(changes, reason):
    with pytest.raises(TokenRefused, match=reason):
        believed(changes)


def test_a_token_for_somebody_is_refused_where_nobody_is_expected():
    with pytest.raises(TokenRefused, match="another audience"):
        believed(rules=BearerRules())
    assert believed({"aud": None}, BearerRules())


def test_other_claims_may_name_user_and_scope():
    rules = RULES._replace(subject_claim="email", scope_claim="scp")
    assert believed({"email": "a@b", "scope": 5}, rules).name == "a@b"
    with pytest.raises(TokenRefused, match="scope is named twice"):
        believed({"email": "a@b", "scp": ["x", "x"]}, rules)


def test_it_expires_when_the_clock_says_so():
    assert believed(now_s=NOW_S + 89)
    with pytest.raises(TokenRefused, match="expired"):
        believed(now_s=NOW_S + 90)


@pytest.mark.parametrize("payload", [b"", b"[]", b"5", b"\xff", b"[" * 100_000, b'{"a":' * 50_000])
def test_claims_that_are_none_are_refused(payload):
    with pytest.raises(TokenRefused, match="cannot be read"):
        read_claims(payload, RULES, NOW_S * 1000)


def test_a_header_names_key_and_algorithm(issuer):
    assert read_header(issuer.token(key_id="rsa")) == TokenHeader("rsa", "RS256")


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a.b",
        "a.b.c.d",
        f"{segment({'alg': 'ES256', 'kid': 'ec'})}..",
        f"{segment({'alg': 'none', 'kid': 'ec'})}.e30.",
        f"{segment({'alg': 'none', 'kid': 'ec'})}.e30.x",
        f"{segment({'alg': 'None', 'kid': 'ec'})}.e30.x",
        f"{segment({'alg': 'HS256', 'kid': 'ec'})}.e30.x",
        f"{segment({'alg': ['ES256'], 'kid': 'ec'})}.e30.x",
        f"{segment({'alg': 'ES256'})}.e30.x",
        f"{segment({'alg': 'ES256', 'kid': ''})}.e30.x",
        f"{segment({'alg': 'ES256', 'kid': ['ec']})}.e30.x",
        f"{segment({'alg': 'ES256', 'kid': 'x' * (KEY_ID_LENGTH_MAX + 1)})}.e30.x",
        f"{segment({'alg': 'ES256', 'kid': 'ec', 'x': 'x' * 4096})}.e30.x",
        f"{segment(b'[' * 3000)}.e30.x",
        f"{segment([])}.e30.x",
        "!!.e30.x",
        f"{segment({'alg': 'ES256', 'kid': 'ec'})}.{'x' * BEARER_TOKEN_BYTES_MAX}.x",
    ],
)
def test_a_header_that_is_not_accepted(token):
    with pytest.raises(TokenRefused):
        read_header(token)


# -- signatures


@pytest.mark.parametrize("key_id", ["rsa", "ec"])
def test_what_a_key_has_signed_is_believed(issuer, key_id):
    token = issuer.token(key_id=key_id)
    payload = checked_payload(token, read_key_set(issuer.key_set())[key_id], read_header(token).algorithm)
    assert json.loads(payload)["sub"] == "alice"


def hostile(issuer) -> dict[str, str]:
    """Tokens that name the issuer's keys and were not signed by them."""
    good = issuer.token(key_id="rsa")
    header, payload, signature = good.split(".")
    public = issuer.keys["rsa"].public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    as_hmac = f"{segment({'alg': 'RS256', 'kid': 'rsa'})}.{payload}"
    other_payload = segment({**CLAIMS, "sub": "admin"})
    return {
        "another payload": f"{header}.{other_payload}.{signature}",
        "no signature": f"{header}.{payload}.AAAA",
        "the public key as a secret": f"{as_hmac}.{segment(hmac.digest(pem, as_hmac.encode(), 'sha256'))}",
        "another's signature": Issuer().token(key_id="rsa"),
        "a key of its own in the header": good.replace(
            header, segment({"alg": "RS256", "kid": "rsa", "jwk": Issuer().jwk("rsa")})
        ),
        "unencoded payload": f"{segment({'alg': 'RS256', 'kid': 'rsa', 'b64': False})}.{payload}.{signature}",
        "an extension that counts": f"{segment({'alg': 'RS256', 'kid': 'rsa', 'crit': ['x'], 'x': 1})}.{payload}.x",
    }


@pytest.mark.parametrize("name", list(hostile(Issuer())))
def test_what_was_not_signed_by_the_key_is_refused(issuer, name):
    token = hostile(issuer)[name]
    with pytest.raises(TokenRefused, match="signature"):
        checked_payload(token, read_key_set(issuer.key_set())["rsa"], read_header(token).algorithm)


@pytest.mark.parametrize("extension", [{"crit": ["b64"], "b64": False}, {"crit": ["exp"], "exp": 1}, {"crit": []}])
def test_a_token_with_a_critical_extension_is_refused(issuer, extension):
    token = issuer.signed({"alg": "ES256", "kid": "ec"} | extension, {"sub": "alice"})
    with pytest.raises(TokenRefused):
        checked_payload(token, read_key_set(issuer.key_set())["ec"], "ES256")


@pytest.mark.parametrize(
    ("key_id", "algorithm"), [("rsa", "ES256"), ("ec", "RS256"), ("ec", "ES384"), ("ec", "EdDSA"), ("rsa", "HS256")]
)
def test_a_key_is_used_with_its_own_algorithms_only(issuer, key_id, algorithm):
    with pytest.raises(TokenRefused, match="algorithm"):
        checked_payload(issuer.token(key_id=key_id), read_key_set(issuer.key_set())[key_id], algorithm)


def test_a_key_set_may_name_the_one_algorithm_of_a_key(issuer):
    key = read_key_set(json.dumps({"keys": [issuer.jwk("rsa", alg="PS256")]}).encode())["rsa"]
    assert key.algorithms == {"PS256"}
    with pytest.raises(TokenRefused, match="algorithm"):
        checked_payload(issuer.token(key_id="rsa"), key, "RS256")


def test_unusable_keys_are_passed_over(issuer):
    small = rsa.generate_private_key(65537, 1024)
    koblitz = ec.generate_private_key(ec.SECP256K1())
    issuer = Issuer()
    issuer.keys |= {"small": small, "koblitz": koblitz}
    private = {**issuer.jwk("ec"), "kid": "private", "d": "AAAA"}
    keys = [
        5,
        None,
        {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
        issuer.jwk("small"),
        issuer.jwk("koblitz"),
        private,
        issuer.jwk("ec", kid="for encryption", use="enc"),
        issuer.jwk("ec", kid="to sign", key_ops=["sign"]),
        issuer.jwk("ec", kid=5),
        issuer.jwk("ec", kid="x" * (KEY_ID_LENGTH_MAX + 1)),
        issuer.jwk("ec", kid="off the curve", x="AAAA"),
        issuer.jwk("rsa", kid="hmac", alg="HS256"),
        issuer.jwk("rsa", kid="unsigned", alg="none"),
        issuer.jwk("ec", kid="for a curve that nobody has", crv="P-999"),
        issuer.jwk("ec", kid="for another curve", alg="ES384"),
        issuer.jwk("rsa", kid="huge exponent", e=segment(b"\xff" * 64)),
        issuer.jwk("ec"),
        issuer.jwk("rsa", kid="ec"),
    ]
    key_set = read_key_set(json.dumps({"keys": keys}).encode())
    assert set(key_set) - {"hmac"} == {"ec"}
    assert key_set["ec"].algorithms == {"ES256"}
    assert "hmac" not in key_set or not key_set["hmac"].algorithms


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"<html>",
        b"\xff",
        b"[" * 100_000,
        b'{"keys":[]}',
        b'{"keys":{}}',
        b'{"keys":5}',
        json.dumps({"keys": [{}] * (KEYS_IN_SET_MAX + 1)}).encode(),
        json.dumps({"keys": [{"kty": "oct", "kid": "a", "k": "AAAA"}]}).encode(),
    ],
)
def test_what_is_no_set_of_keys_is_refused(data):
    with pytest.raises(KeySetUnreadable):
        read_key_set(data)
