import json
from logging.handlers import RotatingFileHandler

import pytest
from django.test import Client

from console.shell.web.request_log import open_request_log


@pytest.fixture
def lines(settings, tmp_path):
    settings.REQUEST_LOG_FILE = tmp_path / "access.log"
    return lambda: [json.loads(line) for line in settings.REQUEST_LOG_FILE.read_text().splitlines()]


def test_one_line_per_finished_request_says_what_was_asked_and_how_it_went(lines, viewer, client_of):
    response = client_of(viewer).get("/topics/?search=secret")

    (line,) = lines()
    assert (line["method"], line["path"], line["status"]) == ("GET", "/topics/", 200)
    assert line["bytes"] == len(response.content)
    assert line["duration_ms"] > 0
    assert line["time"].startswith("20")
    assert line["time_ms"] > 1_700_000_000_000


def test_a_line_names_neither_who_asked_nor_what_for(lines, viewer, client_of):
    client = client_of(viewer)
    for path in ("/topics/secret-plans/+records/0/7/", "/consumers/secret-readers/", "/no/such/secret", "/users/7/"):
        client.get(path)

    paths = [line["path"] for line in lines()]
    assert paths == [
        "/topics/<name>/+records/<partition>/<offset>/",
        "/consumers/<group>/",
        "/…",
        "/users/<number>/",
    ]
    assert not [line for line in lines() if "secret" in str(line) or "viewer" in str(line) or "user" in line]


def test_health_metrics_and_static_files_leave_no_line(lines, db):
    client = Client()
    for path in ("/healthz", "/metrics", "/static/css/tokens.css"):
        assert client.get(path).status_code == 200
    client.get("/login/")

    assert [line["path"] for line in lines()] == ["/login/"]


def test_a_log_that_is_opened_elsewhere_has_let_the_file_before_go(tmp_path):
    """One kept for each file would be told of by everything that looks through all loggers."""
    loggers = set()
    for name in ("before.log", "after.log"):
        log = open_request_log(tmp_path / name)
        log.info("a line")
        loggers.add(log)
    (log,) = loggers
    assert [handler.baseFilename for handler in log.handlers if isinstance(handler, RotatingFileHandler)] == [
        str(tmp_path / "after.log")
    ]
    assert [(tmp_path / name).read_text() for name in ("before.log", "after.log")] == ["a line\n"] * 2
