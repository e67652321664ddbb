"""A login that nobody uses ends, and one that is used lives no longer for it."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from console.kit.access import idle
from console.kit.live.person_socket import is_login_of


@pytest.fixture
def later(monkeypatch):
    """later(seconds): that much time goes by."""
    start = idle.now_ms()
    passed = 0

    def go(seconds: int) -> None:
        nonlocal passed
        passed += seconds
        monkeypatch.setattr(idle, "now_ms", lambda: start + passed * 1_000)
        monkeypatch.setattr("console.kit.live.person_socket.now_ms", lambda: start + passed * 1_000)

    return go


def test_a_login_that_is_not_used_ends(viewer, client_of, later):
    client = client_of(viewer)
    assert client.get("/").status_code == 200
    later(settings.SESSION_IDLE_SECONDS + 1)

    assert client.get("/topics/").status_code == 302
    assert not Session.objects.exists()


def test_one_that_is_used_now_and_then_goes_on(viewer, client_of, later):
    client = client_of(viewer)
    for _ in range(4):
        assert client.get("/").status_code == 200
        later(settings.SESSION_IDLE_SECONDS - 1)


def test_what_a_page_asks_by_itself_is_no_use(viewer, client_of, later):
    client = client_of(viewer)
    client.get("/")
    for _ in range(3):
        answer = client.get("/", headers={"X-Refresh": "1"})
        later(settings.SESSION_IDLE_SECONDS // 2)

    assert answer.status_code == 200
    assert client.get("/", headers={"X-Refresh": "1"}).status_code == 302


def test_using_it_does_not_move_its_end(viewer, client_of, later):
    client = client_of(viewer)
    client.get("/")
    end = Session.objects.get().expire_date
    assert end - timezone.now() <= timedelta(seconds=settings.SESSION_COOKIE_AGE)
    later(3_600)
    client.get("/")

    assert abs(Session.objects.get().expire_date - end) < timedelta(seconds=5)


def test_a_use_is_written_at_most_once_a_minute(viewer, client_of, later, django_assert_num_queries):
    client = client_of(viewer)
    client.get("/password/")
    client.get("/password/")
    kept = Session.objects.get().session_data
    later(30)
    client.get("/password/")
    assert Session.objects.get().session_data == kept
    later(31)
    client.get("/password/")
    assert Session.objects.get().session_data != kept


def test_open_sockets_end_with_it(viewer, client_of, later):
    client = client_of(viewer)
    client.get("/")
    kept = Session.objects.get().get_decoded()
    assert is_login_of(viewer, kept)
    later(settings.SESSION_IDLE_SECONDS + 1)
    assert not is_login_of(viewer, kept)
