"""A login by an honest provider, from the login page to the rights, and out again."""

import logging
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from console.kit.access.models import Identity, NameRule
from console.kit.audit.models import AuditEvent
from console.kit.audit.queries import verify_chain
from tests.oidc_provider import CLIENT_ID, SECRET

pytestmark = pytest.mark.usefixtures("single_sign_on")


def test_who_comes_back_has_an_account_with_the_role_of_the_group(there_and_back, provider):
    client = Client()
    answer = there_and_back(client, next="/topics/")

    assert (answer.status_code, answer.url) == (302, "/topics/")
    user = User.objects.get()
    assert (user.username, user.has_usable_password(), user.is_superuser) == ("sso:alice", False, False)
    assert [group.name for group in user.groups.all()] == ["viewer"]
    identity = Identity.objects.get()
    assert (identity.issuer, identity.subject, identity.groups) == (provider.issuer, "1001", ["viewers"])
    assert client.get("/history/").status_code == 200
    assert client.get("/audit/").status_code == 403


def test_a_second_login_finds_the_account_by_its_subject_whatever_it_is_called_now(there_and_back, provider):
    there_and_back()
    provider.person |= {"preferred_username": "bob", "name": "Bob B."}
    there_and_back()

    assert User.objects.get().username == "sso:alice"
    assert Identity.objects.get().shown_name == "Bob B."


def test_another_subject_of_the_same_name_and_address_is_somebody_else(there_and_back, provider):
    provider.person |= {"email": "alice@example.org", "email_verified": True}
    there_and_back()
    provider.person["sub"] = "1002"
    there_and_back()

    assert set(User.objects.values_list("username", flat=True)) == {"sso:alice", "sso:alice-2"}


@pytest.mark.parametrize("name", ["administrator", "ADMINISTRATOR", "system", "anonymous"])
def test_a_local_user_of_the_same_name_is_not_taken_over(name, there_and_back, provider, administrator):
    User.objects.filter(pk=administrator.pk).update(email="a@example.org")
    provider.person |= {"preferred_username": name, "email": "a@example.org", "sub": str(administrator.pk)}
    there_and_back()

    administrator.refresh_from_db()
    assert administrator.has_usable_password()
    assert Identity.objects.get().user.pk != administrator.pk
    assert Identity.objects.get().user.username == f"sso:{name}"


def test_the_session_has_another_key_after_the_login(there_and_back, viewer):
    """Neither one planted before nor one of somebody who was logged in goes on."""
    client = Client()
    session = client.session
    session["planted"] = 1
    session.save()
    client.cookies["barnabas_session"] = session.session_key
    there_and_back(client)

    assert client.cookies["barnabas_session"].value != session.session_key
    assert not Session.objects.filter(session_key=session.session_key).exists()


def test_a_group_that_is_taken_away_takes_its_rights_at_the_next_login(there_and_back, provider):
    provider.person["groups"] = ["admins", "payments"]
    there_and_back()
    assert Identity.objects.get().user.groups.get().name == "admin"
    provider.person["groups"] = ["payments"]
    there_and_back()

    user = User.objects.get()
    assert not user.groups.exists()
    rules = [str(rule) for rule in NameRule.objects.filter(user=user)]
    assert rules == ["operator on topic payments.*", "nothing on topic payments.cards"]


def test_without_any_group_of_the_rules_nobody_gets_in_and_what_was_there_is_taken(there_and_back, provider):
    provider.person["groups"] = ["admins", "payments"]
    earlier = Client()
    there_and_back(earlier)
    provider.person["groups"] = ["Admins", "others"]
    answer = there_and_back()

    assert answer.status_code == 403
    assert b"None of your groups" in answer.content
    user = User.objects.get()
    assert not user.groups.exists()
    assert not NameRule.objects.exists()
    assert earlier.get("/").status_code == 302, "logins of before are over"


def test_who_was_never_here_and_has_no_group_leaves_no_account(there_and_back, provider):
    provider.person["groups"] = []

    assert there_and_back().status_code == 403
    assert not User.objects.exists()


def test_rules_that_changed_count_at_the_next_login_without_a_restart(there_and_back, configure):
    there_and_back()
    configure(rules='[groups.viewers]\nrole = "operator"\n')
    there_and_back()

    assert User.objects.get().groups.get().name == "operator"


def test_a_deactivated_account_stays_out(there_and_back):
    there_and_back()
    User.objects.update(is_active=False)
    answer = there_and_back()

    assert answer.status_code == 403
    assert b"deactivated" in answer.content


def test_the_login_ends_after_its_bound_however_much_it_is_used(there_and_back, configure):
    configure(session_seconds=600)
    client = Client()
    there_and_back(client)
    for _ in range(3):
        client.get("/history/")

    left = Session.objects.get().expire_date - timezone.now()
    assert timedelta(seconds=590) < left <= timedelta(seconds=600)


def test_what_is_asked_of_the_provider_is_exact_and_each_time_another(provider):
    queries = [parse_qs(urlsplit(Client().get("/login/sso/").url).query) for _ in range(2)]

    assert {item["redirect_uri"][0] for item in queries} == {"http://testserver/login/sso/callback/"}
    assert {item["client_id"][0] for item in queries} == {CLIENT_ID}
    for name in ("state", "nonce", "code_challenge"):
        assert queries[0][name] != queries[1][name]
        assert len(queries[0][name][0]) == 43


def test_behind_a_proxy_with_tls_the_way_back_is_https_and_the_cookie_is_safe(settings):
    settings.SESSION_COOKIE_SECURE = True
    answer = Client().get("/login/sso/", secure=True)

    assert parse_qs(urlsplit(answer.url).query)["redirect_uri"] == ["https://testserver/login/sso/callback/"]
    cookie = answer.cookies["barnabas_sign_on"]
    assert (cookie["secure"], cookie["httponly"], cookie["samesite"]) == (True, True, "Lax")


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/" + "x" * 5_000],
)
def test_a_login_never_leads_to_another_site(elsewhere, there_and_back):
    answer = there_and_back(next=elsewhere)

    assert (answer.status_code, answer.url) == (302, "/")


def test_another_site_does_not_log_the_browser_in(provider):
    answer = Client().get("/login/sso/", headers={"Sec-Fetch-Site": "cross-site"})

    assert (answer.status_code, answer.url) == (302, "/login/")


@pytest.mark.django_db(transaction=True)
def test_the_audit_names_both_identities_and_its_chain_holds(there_and_back, provider, client_of, administrator):
    client = Client()
    there_and_back(client)
    client.post("/logout/")

    events = list(AuditEvent.objects.order_by("pk"))
    assert [event.action for event in events] == ["get rights", "log in", "log out"]
    for event in events:
        assert (event.actor_name, event.actor_identity) == ("sso:alice", f"1001 of {provider.issuer}")
    assert verify_chain().broken is None
    page = client_of(administrator).get("/audit/").content.decode()
    assert f"1001 of {provider.issuer}" in page


def test_a_row_whose_identity_was_changed_is_noticed(there_and_back):
    there_and_back()
    row = AuditEvent.objects.first()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_auditevent SET actor_identity = 'somebody else' WHERE id = %s", [row.pk])

    assert verify_chain().broken.row_id == row.pk


def test_logging_out_leads_to_the_provider_too_if_one_wants_and_back(there_and_back, provider):
    client = Client()
    there_and_back(client)
    out = client.post("/logout/")
    page = client.get(out.url).content.decode()

    assert client.get("/").status_code == 302
    assert "/logout/sso/" in page
    address = urlsplit(client.get("/logout/sso/").url)
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.issuer}/end"
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert query == {"client_id": CLIENT_ID, "post_logout_redirect_uri": "http://testserver/login/"}


def test_no_token_and_no_secret_is_kept_or_told(there_and_back, provider, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    there_and_back()
    provider.claims = {"nonce": "wrong"}
    there_and_back()
    provider.claims = {}

    stored = tmp_path / "all.json"
    call_command("dumpdata", output=str(stored))
    sessions = [str(session.get_decoded()) for session in Session.objects.all()]
    text = stored.read_text() + "".join(sessions)
    ours = "".join(
        record.getMessage() for record in caplog.records if not record.name.startswith(("httpcore", "asyncio"))
    )
    codes = list(provider.codes)
    for token in provider.tokens:
        for secret in (SECRET, token["access_token"], token["id_token"], *codes):
            assert secret not in text
            assert secret not in ours


def test_each_login_proves_the_account_anew(single_sign_on, there_and_back):
    there_and_back()
    identity = Identity.objects.get()
    first = identity.proved_at
    assert first is not None
    there_and_back()
    identity.refresh_from_db()
    assert identity.proved_at > first
