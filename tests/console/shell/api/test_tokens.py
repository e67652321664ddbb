"""Tokens: made and ended by their person, worth nothing to who reads the database, over when they are said to be."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from console.kit.access.api_tokens import TOKENS_MAX, is_open, make_token, token_of
from console.kit.access.models import ApiToken, Identity, PasswordToChange
from console.kit.audit.models import AuditEvent, Tally
from console.people.sso.configuration import SingleSignOn
from console.people.users.actions import do_change_own_password, end_logins


def made(client, **properties):
    form = {"name": "deploy", "scopes": ["read"], "days": 7} | properties
    return client.post("/tokens/+make/", form)


def test_a_token_is_shown_once_and_kept_nowhere(viewer, client_of):
    client = client_of(viewer)
    answer = made(client)
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert token_of(secret, timezone.now()).user == viewer
    assert secret not in client.get("/tokens/").content.decode()
    assert secret not in str(ApiToken.objects.values().get())
    event = AuditEvent.objects.get(action="make token")
    assert (event.object_name, secret in str(event.__dict__)) == ("deploy", False)


def test_a_token_that_was_ended_opens_nothing_from_then_on(program, viewer, client_of):
    api = program(viewer)
    assert api.get("token").status_code == 200
    assert client_of(viewer).post(f"/tokens/{api.token.pk}/+end/").status_code == 302
    answer = api.get("token")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_nobody_ends_anothers(program, viewer, administrator, client_of):
    api = program(viewer)
    assert client_of(administrator).post(f"/tokens/{api.token.pk}/+end/").status_code == 404
    assert api.get("token").status_code == 200


def test_a_token_ends_by_its_time(program, viewer):
    api = program(viewer)
    api.end_later(seconds=1)
    assert api.get("token").status_code == 401


@pytest.mark.parametrize("way", ["password", "logins", "account", "seen password"])
def test_what_ends_a_persons_logins_ends_the_tokens(program, viewer, way):
    api = program(viewer)
    if way == "password":
        do_change_own_password(viewer, "another one entirely")
    elif way == "logins":
        end_logins(viewer)
    elif way == "account":
        type(viewer).objects.filter(pk=viewer.pk).update(is_active=False)
    else:
        PasswordToChange.objects.create(user=viewer)
    assert api.get("token").status_code == 401


def test_a_token_opens_no_more_than_its_person_may_do_now(program, operator, cluster, collect):
    cluster.create_topic("orders", 1, 1)
    collect()
    api = program(operator)
    assert api.plan("delete-topic", name="orders").status_code == 200
    operator.groups.clear()
    assert api.plan("delete-topic", name="orders").status_code == 403
    assert api.get("topics").status_code == 403


@pytest.mark.parametrize(
    "header",
    [None, "", "Bearer", "Bearer ", "Basic YWRtaW46YWRtaW4=", "Bearer barnabas_" + "A" * 43, "Bearer " + "x" * 5000],
)
def test_without_a_token_nothing_is_open_whatever_cookies_say(client_of, administrator, header):
    client = client_of(administrator)
    headers = {} if header is None else {"Authorization": header}
    for path in ("topics", "token", "actions", "health", "users", "events"):
        answer = client.get(f"/api/v1/{path}", headers=headers)
        assert answer.status_code == 401
        assert answer.json()["detail"].startswith("This needs a token")
    assert client.post("/api/v1/plans/apply", {}, content_type="application/json", headers=headers).status_code == 401


def test_a_token_logs_nobody_in(program, administrator):
    api = program(administrator)
    client = Client(headers={"Authorization": f"Bearer {api.secret}"})
    assert client.get("/topics/").status_code == 302
    answer = client.get("/api/v1/token")
    assert not answer.cookies


def test_a_person_has_so_many_tokens_and_no_more(viewer, client_of):
    for number in range(TOKENS_MAX):
        make_token(viewer, f"t{number}", ["read"], 1, timezone.now())
    assert made(client_of(viewer)).status_code == 422
    assert ApiToken.objects.count() == TOKENS_MAX


@pytest.mark.parametrize(
    "fields", [{"name": ""}, {"name": "x" * 61}, {"scopes": []}, {"scopes": ["all"]}, {"days": 0}, {"days": 366}]
)
def test_a_token_of_nonsense_is_not_made(viewer, client_of, fields):
    assert made(client_of(viewer), **fields).status_code == 422
    assert not ApiToken.objects.exists()


def test_wrong_tokens_are_counted_in_the_audit(viewer, client):
    client.get("/api/v1/topics", headers={"Authorization": "Bearer barnabas_guess"})
    assert Tally.objects.filter(action="fail to use a token").exists()


# -- of accounts that a provider proves


@pytest.fixture
def linked(operator, settings):
    """Proves the operator at a provider, so many days ago."""
    settings.TOKEN_SIGN_ON_DAYS = 7
    identity = Identity.objects.create(user=operator, issuer="https://idp.example", subject="42", provider="sso")

    def prove(days: float | None) -> None:
        proved_at = None if days is None else timezone.now() - timedelta(days=days)
        Identity.objects.filter(pk=identity.pk).update(proved_at=proved_at)

    return prove


@pytest.mark.parametrize(("days", "status"), [(0, 200), (6.9, 200), (7.1, 401), (None, 401)])
def test_a_token_works_for_a_week_after_its_owner_signed_on(program, operator, linked, days, status):
    api = program(operator, days=90)
    linked(days)
    assert api.get("token").status_code == status
    assert is_open(api.token, timezone.now()) is (status == 200)
    if status == 401:
        linked(0)
        assert api.get("token").status_code == 200, "the next login is the proof"


def test_it_ends_by_its_own_time_all_the_same(program, operator, linked):
    linked(0)
    api = program(operator, days=1)
    api.end_later(seconds=1)
    assert api.get("token").status_code == 401


def test_the_list_says_what_a_token_waits_for(program, operator, linked, client_of):
    program(operator, days=90)
    linked(1)
    assert "unless you sign on before" in client_of(operator).get("/tokens/").content.decode()
    linked(8)
    assert "until you sign on again" in client_of(operator).get("/tokens/").content.decode()
    assert program(operator).get("token").status_code == 401


def test_where_passwords_break_the_glass_tokens_do_no_more(
    program, operator, administrator, linked, settings, client_of
):
    """Of accounts of our own superusers alone come in; who comes by the provider is proved by it."""
    settings.SINGLE_SIGN_ON = SingleSignOn("https://idp.example", "console", Path("rules"), only_break_glass=True)
    linked(0)
    assert program(operator).get("token").status_code == 200
    api = program(administrator)
    assert api.get("token").status_code == 401
    assert "paused" in client_of(administrator).get("/tokens/").content.decode()
    type(administrator).objects.filter(pk=administrator.pk).update(is_superuser=True)
    assert api.get("token").status_code == 200
