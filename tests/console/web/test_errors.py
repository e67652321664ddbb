"""The pages for no are pages of this console too."""

import pytest
from django.db import OperationalError
from django.test import Client


@pytest.fixture
def broken_client(client_of, viewer, monkeypatch):
    def fail(*_args, **_options):
        raise OperationalError("database is locked")

    client = client_of(viewer)
    client.raise_request_exception = False
    monkeypatch.setattr("console.overview.views.overview_facts", fail)
    monkeypatch.setattr("console.clusters.context.cluster_state", fail)
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
