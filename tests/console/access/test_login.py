from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone

from console.access.models import FailedLogin
from console.access.throttle import FAILURES_MAX, FAILURES_PER_ADDRESS_MAX, WINDOW, seconds_to_wait
from console.audit.models import AuditEvent

PASSWORD = "correct-horse-battery"


def attempt(username: str, password: str, **fields) -> object:
    return Client().post("/login/", {"username": username, "password": password, **fields})


def test_the_right_password_leads_to_the_page_that_was_asked_for(viewer):
    response = attempt("viewer", PASSWORD, next="/topics/")

    assert (response.status_code, response.url) == (302, "/topics/")
    assert response.cookies["barnabas_session"]["httponly"]
    assert response.cookies["barnabas_session"]["samesite"] == "Lax"
    assert AuditEvent.objects.get().action == "log in"


@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org/", "javascript:alert(1)", ""])
def test_login_never_leads_to_another_site(viewer, elsewhere):
    response = attempt("viewer", PASSWORD, next=elsewhere)
    assert response.status_code == 302
    assert response.url == "/"


def test_the_wrong_password_does_not_tell_whether_the_user_exists(viewer):
    wrong, unknown = attempt("viewer", "wrong"), attempt("nobody", "wrong")

    assert wrong.status_code == unknown.status_code == 401
    assert b"is not right" in wrong.content
    assert b"is not right" in unknown.content


def test_after_a_few_failures_even_the_right_password_waits(viewer):
    for _ in range(FAILURES_MAX):
        assert attempt("viewer", "wrong").status_code == 401

    response = attempt("Viewer", PASSWORD)

    assert response.status_code == 429
    assert b"Too many failed attempts" in response.content


def test_an_attempt_counts_before_its_password_is_looked_at(viewer, monkeypatch):
    """Many attempts at once are as many as one after another."""
    counted = []
    monkeypatch.setattr(
        "django.contrib.auth.forms.authenticate", lambda *_, **__: counted.append(FailedLogin.objects.count())
    )
    attempt("viewer", "wrong")

    assert counted == [1]


def test_the_right_password_leaves_no_failure(viewer):
    attempt("viewer", PASSWORD)

    assert not FailedLogin.objects.exists()


@pytest.mark.parametrize("username", ["x" * 60_000, "vie\0wer"])
def test_no_name_is_too_odd_to_be_refused(db, username):
    FailedLogin.objects.create(username="viewer", address="127.0.0.1", at=timezone.now())

    assert attempt(username, "wrong").status_code == 401


def test_logging_in_drops_sessions_that_are_over(viewer):
    session = SessionStore()
    session.set_expiry(-1)
    session.save()
    attempt("viewer", PASSWORD)

    assert not session.exists(session.session_key)


def test_the_wait_ends(viewer):
    long_ago = timezone.now() - WINDOW
    FailedLogin.objects.bulk_create([FailedLogin(username="viewer", address="127.0.0.1", at=long_ago)] * 50)

    assert attempt("viewer", PASSWORD).status_code == 302


def test_an_address_that_tries_many_names_waits_for_all_of_them(db):
    now = timezone.now()
    for number in range(FAILURES_PER_ADDRESS_MAX):
        FailedLogin.objects.create(username=f"user-{number}", address="10.0.0.1", at=now - timedelta(seconds=10))

    assert seconds_to_wait("somebody", "10.0.0.1", now) == WINDOW.total_seconds() - 10
    assert seconds_to_wait("somebody", "10.0.0.2", now) == 0


def test_login_needs_the_csrf_token(viewer):
    response = Client(enforce_csrf_checks=True).post("/login/", {"username": "viewer", "password": PASSWORD})

    assert response.status_code == 403
    assert b"Load it again" in response.content


def test_logout_is_a_post_and_ends_the_session(viewer, client_of):
    client = client_of(viewer)

    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").url == "/login/"
    assert client.get("/").status_code == 302
