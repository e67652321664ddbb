"""A page that is fetched while nobody looked waits for the look it causes, and not for ever."""

from functools import partial
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from console.shell.web import fresh_pages
from console.state.clusters import store


@pytest.fixture
def called(monkeypatch) -> list[bool]:
    """Calls; the collector had not been looking."""
    calls: list[bool] = []

    def call() -> bool:
        calls.append(True)
        return True

    monkeypatch.setattr(fresh_pages, "call", call)
    return calls


def test_a_page_waits_for_the_look_it_causes(collect, collector, clock, called, monkeypatch):
    """Its answer is made after every tier has looked since it was asked for."""
    collect()
    clock.advance(60_000)
    monkeypatch.setattr(fresh_pages, "now_ms", clock.now_ms)
    look = collector
    looks = iter((look.collect_cluster, look.collect_zookeeper, look.collect_topics, partial(look.look, "groups")))
    monkeypatch.setattr(fresh_pages, "time", SimpleNamespace(sleep=lambda _seconds: next(looks)()))
    fresh_pages.await_look()

    assert called
    assert next(looks, None) is None


def test_a_page_does_not_wait_for_a_cluster_that_does_not_answer(collect, clock, called, monkeypatch):
    collect()
    clock.advance(60_000)
    store.update_state(brokers_error="gone", topics_error="gone", groups_error="gone")
    monkeypatch.setattr(fresh_pages, "now_ms", clock.now_ms)
    waited: list[int] = []

    def sleep(_seconds: float) -> None:
        waited.append(1)
        clock.advance(30)

    monkeypatch.setattr(fresh_pages, "time", SimpleNamespace(sleep=sleep))
    fresh_pages.await_look()

    assert len(waited) * 30 <= fresh_pages.WAIT_MS_MAX + 30


def test_only_people_are_waited_for(viewer, called, monkeypatch):
    monkeypatch.setattr(fresh_pages, "_has_looked", lambda _since_ms: True)
    middleware = fresh_pages.FreshPagesMiddleware(lambda request: request)
    request = RequestFactory().get("/metrics")
    request.user = AnonymousUser()
    middleware(request)
    assert not called

    request.user = viewer
    middleware(request)
    assert called
