"""What everybody may read without a login, where it is switched on: shares of a day and a month, and nothing else."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client, RequestFactory

from console.ecosystem.probe import public_views
from console.ecosystem.probe.figures import ProbeFigures
from console.ecosystem.probe.models import HOUR, MINUTE, ProbeState, ProbeWindow
from console.ecosystem.probe.public import DAY_MS, HOUR_MS, SILENT_MS, availability
from console.kit.common.clock import now_ms
from tests.barnabas_cluster import await_true

NOON_MS = 1_790_000_000_000 // DAY_MS * DAY_MS + DAY_MS // 2


def tried(written=100, not_written=0, fetched=100, not_fetched=0) -> ProbeFigures:
    return ProbeFigures(
        {
            "written": written,
            "not_written": not_written,
            "fetched": fetched,
            "not_fetched": not_fetched,
            "read": written,
        }
    )


@pytest.fixture(autouse=True)
def _nothing_kept():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def switched_on(settings, db):
    settings.STATUS_PAGE = True
    return Client()


def test_until_it_is_switched_on_there_is_no_such_page(db):
    assert Client().get("/status/").status_code == 404


def test_it_needs_no_login_and_gives_none(switched_on):
    response = switched_on.get("/status/")
    assert response.status_code == 200
    assert not response.cookies
    assert response.headers["Cache-Control"] == "public, max-age=30"
    assert switched_on.post("/status/").status_code in (403, 405)
    assert switched_on.get("/").status_code == 302


def test_it_tells_shares_and_no_name(switched_on):
    hour = now_ms() // HOUR_MS * HOUR_MS
    ProbeState.objects.create(pk=1, topic="secret.probe", brokers=[[7, 1, True, None, "at 10.0.0.7 timed out"]])
    parts = {"broker/7": {"answered": 1, "unanswered": 9}}
    ProbeWindow.objects.create(tier=HOUR, begins_ms=hour, whole=tried(999, 1).tally, parts=parts, silent=[7])
    ProbeWindow.objects.create(tier=MINUTE, begins_ms=now_ms() - 60_000, whole=tried().tally, silent=[7])
    page = switched_on.get("/status/").content.decode()
    assert "99.90" in page
    assert ">Available</span>" in page
    for secret in ("secret.probe", "10.0.0.7", "127.0.0.1", "broker"):
        assert secret not in page.lower()
    assert not re.search(r"\b(999|1000)\b", page)


def test_whoever_asks_often_costs_the_database_nothing(switched_on, django_assert_num_queries):
    switched_on.get("/status/")
    with django_assert_num_queries(0):
        assert switched_on.get("/status/").status_code == 200


def test_a_database_that_fails_is_told_as_not_measured(switched_on, monkeypatch):
    def fail(*_):
        raise OperationalError("unable to open database file")

    monkeypatch.setattr(public_views, "_windows", fail)
    page = switched_on.get("/status/").content.decode()
    assert "Not measured now" in page
    assert "unable" not in page


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        (tried(), "Available"),
        (tried(9_995, 5), "Available"),
        (tried(90, 10), "Partly available"),
        (tried(fetched=10, not_fetched=90), "Partly available"),
        (tried(0, 100), "Not available"),
        (tried(fetched=0, not_fetched=5), "Not available"),
        (ProbeFigures({}), "Not known"),
    ],
)
def test_how_it_is_now_is_what_the_last_minute_tried(figures, words):
    assert availability("one", [(NOON_MS - 60_000, figures)], [], NOON_MS).words == words


def test_a_probe_that_has_been_silent_says_nothing_of_now():
    availability_of = availability("one", [(NOON_MS - SILENT_MS - 1, tried())], [], NOON_MS)
    assert (availability_of.tone, availability_of.words) == ("plain", "Not measured now")


def test_hours_and_days_go_by_the_clock_and_what_was_not_measured_is_no_outage():
    hours = [(NOON_MS - 26 * HOUR_MS, tried(0, 10)), (NOON_MS - HOUR_MS, tried(50, 50)), (NOON_MS, tried())]
    availability_of = availability("one", [], hours, NOON_MS)
    assert [hour.tone for hour in availability_of.hours[-3:]] == ["", "warning", "ok"]
    assert [day.tone for day in availability_of.days[-3:]] == ["", "critical", "warning"]
    assert (len(availability_of.hours), len(availability_of.days)) == (24, 30)
    assert availability_of.write_day == 0.75
    assert availability_of.write_month == pytest.approx(150 / 210)
    assert availability_of.days[-3].words == "not measured"
    assert availability_of.hours[-2].words.startswith("to write 50.0")


def test_many_who_ask_at_once_have_it_made_once(switched_on, monkeypatch):
    made, come, may_end = [], Barrier(8), Event()

    def page() -> str:
        made.append(1)
        may_end.wait(10)
        return "the page"

    def ask() -> bytes:
        come.wait(10)
        return public_views.status_page(RequestFactory().get("/status/")).content

    monkeypatch.setattr(public_views, "_page", page)
    with ThreadPoolExecutor(8) as people:
        answers = [people.submit(ask) for _ in range(8)]
        await_true(lambda: made, "the first who makes it")
        may_end.set()
        assert {answer.result(10) for answer in answers} == {b"the page"}
    assert len(made) == 1
