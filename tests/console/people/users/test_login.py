from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.utils import timezone

from console.kit.access.models import FailedLogin
from console.kit.audit.models import AuditEvent
from console.people.users.throttle import (
    BROWSER,
    FAILURES_MAX,
    FAILURES_PER_NAME_MAX,
    FAILURES_PER_PLACE_MAX,
    FIRST_WAIT_SECONDS,
    WAIT_SECONDS_MAX,
    WINDOW,
    name_as_counted,
    place_of_address,
    seconds_to_wait,
    wait_after,
)

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


@pytest.mark.parametrize(
    "spelled",
    ["ALICE  SMITH", " alice\tsmith", "al\u00adice smith", "alice\u200b smith", "álice smith",
     "alice\ufe0f smith", "alice\x01 smith", "\u202ealice smith", "alice\u00a0smith", "\uff41lice smith",
     "alice\0 smith"],
)  # fmt: skip
def test_spellings_by_which_a_directory_finds_one_person_are_counted_as_one_name(spelled):
    """Each would be a fresh number of guesses: an LDAP server passes over what RFC 4518 maps to nothing."""
    assert name_as_counted(spelled) == "alice smith"


@pytest.mark.parametrize("other", ["alice", "alicesmith", "alice smith2", "alice-smith", "älicé schmith"])
def test_other_names_are_counted_apart(other):
    assert name_as_counted(other) != "alice smith"


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


def failures(count: int, name: str = "viewer", place: str = "10.0.0.1", seconds_ago: int = 0) -> None:
    """`{n}` in name or place is counted up."""
    at = timezone.now() - timedelta(seconds=seconds_ago)
    FailedLogin.objects.bulk_create(
        FailedLogin(username=name.format(n=n), address=place.format(n=n), at=at) for n in range(count)
    )


def test_an_address_that_tries_many_names_waits_for_all_of_them(db):
    failures(FAILURES_PER_PLACE_MAX, "user-{n}", seconds_ago=2)

    now = timezone.now()
    assert 0 < seconds_to_wait("somebody", "10.0.0.1", now) <= FIRST_WAIT_SECONDS - 1
    assert seconds_to_wait("somebody", "10.0.0.2", now) == 0


def test_a_name_that_is_tried_from_many_addresses_waits_everywhere_but_in_known_browsers(db):
    failures(FAILURES_PER_NAME_MAX, place="10.0.0.{n}")

    now = timezone.now()
    assert seconds_to_wait("viewer", "192.0.2.1", now) > 0
    assert seconds_to_wait("viewer", f"{BROWSER}x", now) == 0
    assert seconds_to_wait("operator", "192.0.2.1", now) == 0


def test_a_wait_doubles_and_is_never_long():
    waits = [wait_after(failures, FAILURES_MAX) for failures in range(4, 1_000)]

    assert waits[:6] == [0, 5, 10, 20, 40, 60]
    assert max(waits) == WAIT_SECONDS_MAX


@pytest.mark.parametrize("typed", [" viewer", "viewer\t", "ｖｉｅｗｅｒ", "VIEWER", "\u3000viewer", "vie\0wer"])
def test_a_name_written_otherwise_has_no_tries_of_its_own(viewer, typed):
    failures(FAILURES_MAX, place="127.0.0.1")

    assert attempt(typed, PASSWORD).status_code == 429


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unix:", "unix:"),
    ],
)
def test_who_has_an_address_of_ipv6_has_its_64(address, place):
    assert place_of_address(address) == place


def test_a_browser_that_was_let_in_before_is_not_kept_out_by_others_on_the_same_machine(viewer):
    browser = Client()
    wrong, right = ({"username": "viewer", "password": item} for item in ("wrong", PASSWORD))
    assert browser.post("/login/", right).status_code == 302
    browser.post("/logout/")
    failures(200, place="127.0.0.1")

    assert attempt("viewer", PASSWORD).status_code == 429
    assert browser.post("/login/", right).status_code == 302
    browser.post("/logout/")
    assert [browser.post("/login/", wrong).status_code for _ in range(6)] == [401] * 5 + [429]


@pytest.mark.parametrize("cookie", ["", "x", "WyJ2aWV3ZXIiLCJ4Il0:1:x"])
def test_a_cookie_that_is_not_ours_makes_no_browser_known(viewer, cookie):
    failures(FAILURES_MAX, place="127.0.0.1")
    browser = Client()
    browser.cookies["barnabas_browser"] = cookie

    assert browser.post("/login/", {"username": "viewer", "password": PASSWORD}).status_code == 429


def test_a_browser_is_known_for_one_account(viewer, operator):
    browser = Client()
    browser.post("/login/", {"username": "viewer", "password": PASSWORD})
    browser.post("/logout/")
    failures(FAILURES_MAX, "operator", "127.0.0.1")

    assert browser.post("/login/", {"username": "operator", "password": PASSWORD}).status_code == 429


def test_login_needs_the_csrf_token(viewer):
    response = Client(enforce_csrf_checks=True).post("/login/", {"username": "viewer", "password": PASSWORD})

    assert response.status_code == 403
    assert b"Load it again" in response.content


def test_logout_is_a_post_and_ends_the_session(viewer, client_of):
    client = client_of(viewer)

    assert client.get("/logout/").url == "/"
    assert client.get("/").status_code == 200
    assert client.post("/logout/").url == "/login/"
    assert client.get("/").status_code == 302
