"""Providers and callers that lie: nobody is logged in, no account is made, and the page says so without their words."""

import gzip
import json
import time

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from console.kit.access.models import FailedLogin
from console.kit.audit.models import Tally
from console.people.sso.bounds import GROUPS_TOLD_MAX
from console.people.users.throttle import FAILURES_MAX
from tests.oidc_provider import OidcProvider

pytestmark = pytest.mark.usefixtures("single_sign_on")


class Since(int):
    """Seconds from when the test runs: every worker of the tests has to know it by the same name."""


def nobody_is_in(client: Client) -> bool:
    return client.get("/").status_code == 302 and not User.objects.exists()


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": []},
        {"aud": ["another-client", "a third"]},
        {"aud": ["console", "another-client"]},  # without azp
        {"aud": ["console", "another-client"], "azp": "another-client"},
        {"azp": "another-client"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": Since(-60)},
        {"exp": None},
        {"exp": "tomorrow"},
        {"exp": True},
        {"nbf": Since(3_600)},
        {"iat": Since(3_600)},
        {"iat": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 256},
        {"sub": "ünïcode"},
        {"sub": "line\nbreak"},
        {"at_hash": "AAAA"},
        {"groups": {"admins": True}},
        {"groups": [["admins"]]},
        {"groups": ["viewers", 7]},
        {"groups": None, "_claim_names": {"groups": "src1"}},
        {"groups": [f"g{n}" for n in range(GROUPS_TOLD_MAX + 1)]},
    ],
    ids=lambda claims: json.dumps(claims)[:50],
)
def test_a_token_that_is_not_for_us_and_for_now_is_refused(claims, there_and_back, provider):
    now = int(time.time())
    provider.claims = {name: now + value if isinstance(value, Since) else value for name, value in claims.items()}
    client = Client()
    answer = there_and_back(client)

    assert answer.status_code in (403, 502)
    assert nobody_is_in(client)


def test_clocks_may_differ_a_little(there_and_back, provider):
    now = int(time.time())
    provider.claims = {"exp": now - 5, "iat": now + 15, "nbf": now + 15}

    assert there_and_back().status_code == 302


@pytest.mark.parametrize("algorithms", [["ES256"], ["none", "HS256"], None, [], "none"])
@pytest.mark.parametrize("signs", ["none", "HS256"])
def test_an_unsigned_token_and_one_signed_with_a_public_key_are_refused(signs, algorithms, there_and_back, provider):
    """Also if the provider says of itself that it signs so."""
    provider.document = {"id_token_signing_alg_values_supported": algorithms}
    provider.signs = signs
    client = Client()

    assert there_and_back(client).status_code == 403
    assert nobody_is_in(client)


def test_a_token_signed_with_a_key_that_is_not_published_is_refused(there_and_back, provider):
    published = provider.published
    provider.rotate()
    provider.published = published
    client = Client()

    assert there_and_back(client).status_code == 403
    assert nobody_is_in(client)


def test_keys_that_rotate_are_followed_and_asked_for_once_more_only(there_and_back, provider):
    there_and_back()
    provider.rotate()

    assert there_and_back().status_code == 302
    assert provider.paths_asked.count("/keys") == 2
    there_and_back()
    assert provider.paths_asked.count("/keys") == 2


def test_another_key_under_the_old_name_is_followed_too(there_and_back, provider):
    there_and_back()
    provider.rotate(kid=provider.key.kid)

    assert there_and_back().status_code == 302


def test_a_provider_with_one_key_need_not_name_it(there_and_back, provider):
    provider.forgets_key_ids = True

    assert there_and_back().status_code == 302


def answer_of(client: Client, provider: OidcProvider) -> str:
    out = client.get("/login/sso/")
    return provider.authorize(out.url).removeprefix("http://testserver")


def test_another_browser_s_answer_logs_nobody_in(provider):
    """Login CSRF: the attacker's own answer, opened in the victim's browser, with or without a login under way."""
    attackers = answer_of(Client(), provider)
    victim = Client()

    assert victim.get(attackers).status_code == 400
    victim.get("/login/sso/")
    assert victim.get(attackers).status_code == 400
    assert nobody_is_in(victim)
    assert "/token" not in provider.paths_asked


def test_an_injected_code_does_not_fit_the_browser_s_verifier(provider):
    """The victim's code, caught on its way, and the attacker's own state."""
    caught = answer_of(Client(), provider)
    code = caught.split("code=")[1].split("&")[0]
    attacker = Client()
    own = answer_of(attacker, provider)
    own_code = own.split("code=")[1].split("&")[0]

    assert attacker.get(own.replace(own_code, code)).status_code == 403
    assert nobody_is_in(attacker)


def test_an_answer_is_good_once(provider):
    client = Client()
    address = answer_of(client, provider)
    cookie = client.cookies["barnabas_sign_on"].value
    assert client.get(address).status_code == 302
    client.post("/logout/")

    assert client.get(address).status_code == 400, "the browser has forgotten its attempt"
    client.cookies["barnabas_sign_on"] = cookie
    assert client.get(address).status_code == 403, "and the provider its code"
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("change", [("iss=http", "iss=https"), ("iss=", "other=")])
def test_an_answer_of_another_provider_is_refused_before_its_code_is_sent_anywhere(change, provider):
    """Mix-up (RFC 9207): this one says of itself that it names itself."""
    client = Client()

    assert client.get(answer_of(client, provider).replace(*change)).status_code == 403
    assert "/token" not in provider.paths_asked
    assert nobody_is_in(client)


def test_a_state_that_was_changed_or_kept_too_long_is_refused(provider, monkeypatch):
    client = Client()
    address = answer_of(client, provider)
    assert client.get(address.replace("state=", "state=x")).status_code == 400
    client = Client()
    address = answer_of(client, provider)
    monkeypatch.setattr("console.people.sso.attempt.AGE_SECONDS", -1)
    assert client.get(address).status_code == 400


def test_what_the_provider_or_anybody_writes_into_the_address_is_not_on_the_page(provider):
    provider.refuses = "access_denied"
    client = Client()
    answer = client.get(answer_of(client, provider))

    assert answer.status_code == 403
    assert b"did not let you in" in answer.content
    assert b"evil" not in answer.content
    assert answer.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("code", ["", "x" * 5_000, "../../", "\u0130\x7f"])
def test_no_code_is_too_odd_to_be_refused(code, provider):
    client = Client()
    state = answer_of(client, provider).split("state=")[1].split("&")[0]

    answer = client.get("/login/sso/callback/", {"state": state, "iss": provider.issuer, "code": code})
    assert answer.status_code == 403
    assert nobody_is_in(client)


def test_ten_thousand_groups_are_read_and_only_those_of_the_rules_kept(there_and_back, provider):
    groups = [f"department-{n:05}-x" for n in range(10_000)]
    provider.person["groups"] = [*groups, "payments"]

    assert there_and_back().status_code == 302
    identity = User.objects.get().identity
    assert identity.groups == ["payments"]


@pytest.mark.parametrize(
    ("name", "username"),
    [
        ("n" * 300, "sso:" + "n" * 60),
        ("Zoë Ångström", "sso:Zoe_Angstrom"),
        ("аdmin", "sso:dmin"),  # the first letter is Cyrillic
        ("<script>alert(1)</script>", "sso:script_alert_1_script"),
        ("\u202egnp.exe\0", "sso:gnp.exe"),
        ("", "sso:person"),
        ("管理员", "sso:person"),
        ({"a": 1}, "sso:person"),
        (None, "sso:person"),
    ],
)
def test_names_of_every_kind_become_one_that_can_be_read(
    name, username, there_and_back, provider, administrator, client_of
):
    provider.person |= {"preferred_username": name, "name": name}
    assert there_and_back().status_code == 302

    user = User.objects.exclude(pk=administrator.pk).get()
    assert user.username == username
    page = client_of(administrator).get(f"/users/{user.pk}/").content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (500, {}, b"Internal"),
        (200, {}, b"<html>"),
        (200, {}, b"[1]"),
        (200, {}, b"[" * 100_000),
        (200, {}, b'{"keys": 7}'),
        (200, {}, b" " * 600_000),
        (200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * 50_000_000)),
        (302, {"Location": "http://169.254.169.254/"}, b""),
    ],
    ids=["500", "html", "list", "deep", "odd", "large", "bomb", "redirect"],
)
def test_an_answer_that_is_none_gives_a_page_and_no_login(path, status, headers, body, provider):
    client = Client()
    if path.startswith("/.well"):
        provider.answers[path] = (status, headers, body)
        answer = client.get("/login/sso/")
    else:
        address = answer_of(client, provider)
        provider.answers[path] = (status, headers, body)
        answer = client.get(address)

    assert answer.status_code in (502, 403)
    assert b"login" in answer.content
    assert nobody_is_in(client)


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "https://user:password@evil.example/"},
        {"end_session_endpoint": "http://evil.example/"},
        {"token_endpoint": ["https://a.example"]},
    ],
    ids=lambda document: json.dumps(document),
)
def test_a_discovery_document_that_is_not_the_issuer_s_or_not_safe_is_not_believed(document, provider):
    provider.document = document

    assert Client().get("/login/sso/").status_code == 502


def test_a_provider_that_is_away_is_not_asked_by_everybody_and_passwords_go_on(configure, provider, viewer):
    provider.answers["/.well-known/openid-configuration"] = (503, {}, b"")
    answers = [Client().get("/login/sso/") for _ in range(5)]

    assert {answer.status_code for answer in answers} == {502}
    assert b"does not answer" in answers[0].content
    assert len(provider.paths_asked) == 1
    answer = Client().post("/login/", {"username": "viewer", "password": "correct-horse-battery"})
    assert answer.status_code == 302


def test_a_provider_that_is_not_there_at_all_gives_a_page(configure):
    configure(issuer="http://127.0.0.1:1")

    assert Client().get("/login/sso/").status_code == 502


def test_codes_that_are_tried_one_after_another_have_to_wait(provider):
    for _ in range(FAILURES_MAX):
        client = Client()
        assert client.get(answer_of(client, provider).replace("code=", "code=x")).status_code == 403
    client = Client()
    count = len(provider.paths_asked)

    assert client.get(answer_of(client, provider)).status_code == 429
    assert len(provider.paths_asked) == count, "the provider is not asked"
    assert FailedLogin.objects.count() == FAILURES_MAX


def test_an_attempt_costs_no_row_of_the_database():
    client = Client()
    client.get("/login/sso/")
    client.get("/login/sso/callback/?state=x")

    assert [model.objects.count() for model in (Session, FailedLogin, Tally)] == [0, 0, 0]
