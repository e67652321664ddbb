"""The pages for no are pages of this console too."""

import pytest
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError
from django.test import Client

from console.cluster.notes.models import TopicNote


@pytest.fixture
def broken_client(client_of, viewer, monkeypatch):
    def fail(*_args, **_options):
        raise OperationalError("database is locked")

    client = client_of(viewer)
    client.raise_request_exception = False
    monkeypatch.setattr("console.signals.overview.views.overview_facts", fail)
    monkeypatch.setattr("console.state.clusters.context.cluster_state", fail)
    return client


def test_a_fault_of_ours_is_a_page_that_asks_the_database_nothing(broken_client):
    response = broken_client.get("/")

    assert response.status_code == 500
    assert b"Something went wrong" in response.content
    assert b"database is locked" not in response.content
    assert b"<html" in response.content


def test_a_page_for_nobody_has_its_heading(db):
    response = Client(enforce_csrf_checks=True).post("/login/", {})

    assert b"<h1>Please repeat</h1>" in response.content


LONG = {"owner": "x", "description": "x" * 3_000_000}
URLENCODED = {"data": f"owner=x&description={LONG['description']}", "content_type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("form", [{"data": LONG}, URLENCODED])
@pytest.mark.parametrize("address", ["/topics/orders/+about/", "/login/", "/nowhere/"])
@pytest.mark.parametrize("has_token", [True, False])
def test_a_form_that_is_too_large_is_told_how_large_one_may_be_and_changes_nothing(
    form, address, has_token, operator, client_of
):
    """Whether or not somebody has logged in, or the page was ours: it is not read so far."""
    for client in (client_of(operator), Client()):
        client.handler.enforce_csrf_checks = not has_token
        response = client.post(address, **form)
        assert response.status_code == 413
        assert b"<h1>Too large</h1>" in response.content
        assert f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes".encode() in response.content
    assert not TopicNote.objects.exists()


def test_more_fields_than_may_be_are_told_how_many_those_are(operator, client_of):
    response = client_of(operator).post("/login/", {str(number): "x" for number in range(1_001)})
    assert (response.status_code, b"at once, 1000." in response.content) == (400, True)


def test_what_cannot_be_read_is_a_page_too(operator, client_of, monkeypatch):
    def refuse(*_arguments, **_options):
        raise SuspiciousOperation("the sentence of a library")

    monkeypatch.setattr("console.signals.overview.views.overview_facts", refuse)
    response = client_of(operator).get("/")
    assert (response.status_code, b"<h1>Not understood</h1>" in response.content) == (400, True)
    assert b"of a library" not in response.content
