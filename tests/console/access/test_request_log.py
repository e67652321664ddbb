import json

import pytest
from django.test import Client


@pytest.fixture
def lines(settings, tmp_path):
    settings.REQUEST_LOG_FILE = tmp_path / "access.log"
    return lambda: [json.loads(line) for line in settings.REQUEST_LOG_FILE.read_text().splitlines()]


def test_one_line_per_finished_request_says_who_asked_what_and_how_it_went(lines, viewer, client_of):
    response = client_of(viewer).get("/topics/?search=secret")

    (line,) = lines()
    assert (line["method"], line["path"], line["status"], line["user"]) == ("GET", "/topics/", 200, "viewer")
    assert line["bytes"] == len(response.content)
    assert line["duration_ms"] > 0
    assert line["time"].startswith("20")
    assert line["time_ms"] > 1_700_000_000_000


def test_requests_of_nobody_are_logged_without_a_name(lines, db):
    Client().get("/")

    assert [(line["status"], line["user"]) for line in lines()] == [(302, "")]


def test_health_metrics_and_static_files_leave_no_line(lines, db):
    client = Client()
    for path in ("/healthz", "/metrics", "/static/css/tokens.css"):
        assert client.get(path).status_code == 200
    client.get("/login/")

    assert [line["path"] for line in lines()] == ["/login/"]
