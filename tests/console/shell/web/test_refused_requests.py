"""What the log says of a request that was refused: one line; of one that we failed at, the traceback too."""

import logging

import pytest

from console.state.clusters.models import Topic


@pytest.mark.parametrize("address", ["/topics/orders/+records/", "/audit/", "/topics/nowhere/"])
def test_a_refusal_is_one_line(address, viewer, client_of, caplog):
    Topic.objects.create(name="orders")
    for _ in range(3):
        assert client_of(viewer).get(address).status_code in (403, 404)
    records = [record for record in caplog.records if record.name == "django.request"]
    assert len(records) == 3
    for record in records:
        line = logging.Formatter().format(record)
        assert address in line
        assert "\n" not in line


def test_a_fault_of_ours_keeps_its_traceback(viewer, client_of, caplog, monkeypatch):
    client = client_of(viewer)
    client.raise_request_exception = False

    def fail(*_arguments):
        raise RuntimeError("the fault")

    monkeypatch.setattr("console.cluster.topics.views.access_topic", fail)
    assert client.get("/topics/orders/").status_code == 500
    (record,) = [record for record in caplog.records if record.name == "django.request"]
    assert "RuntimeError: the fault" in logging.Formatter().format(record)
