from django.db import DatabaseError
from django.test import Client


def test_health_needs_no_login_and_tells_of_a_silent_collector(db, collector):
    assert Client().get("/healthz").json() == {"status": "ok", "database": "ok", "collector": "silent"}
    collector.beat()

    assert Client().get("/healthz").json()["collector"] == "ok"


def test_health_fails_without_a_database(db, monkeypatch):
    def fail() -> None:
        raise DatabaseError("unable to open database file")

    monkeypatch.setattr("console.signals.overview.views.cluster_state", fail)
    response = Client().get("/healthz")

    assert response.status_code == 503
    assert response.json() == {"status": "failing", "database": "unreachable"}
