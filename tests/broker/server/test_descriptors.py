"""A process that may open few files: connections get their share, and what cannot work says so."""

import resource

import pytest
from structlog.testing import capture_logs

from broker.common.errors import StartupError
from broker.server import descriptors
from broker.server.descriptors import connections_within, raise_descriptor_limit


@pytest.fixture
def limits(monkeypatch):
    """(soft, hard), which the code under test may change."""
    now = {"limits": (1_024, 20_000)}
    monkeypatch.setattr(descriptors.resource, "getrlimit", lambda _: now["limits"])
    monkeypatch.setattr(descriptors.resource, "setrlimit", lambda _, wanted: now.update(limits=wanted))
    return now


def test_the_soft_limit_is_raised_to_the_hard_one(limits):
    assert raise_descriptor_limit() == 20_000
    assert limits["limits"] == (20_000, 20_000)


def test_a_limit_that_cannot_be_raised_is_lived_with(limits, monkeypatch):
    def refuse(*_):
        raise ValueError("not allowed")

    monkeypatch.setattr(descriptors.resource, "setrlimit", refuse)
    with capture_logs() as lines:
        assert raise_descriptor_limit() == 1_024
    assert lines[0]["event"] == "limit of open files not raised"


def test_a_limit_too_low_for_any_broker_ends_the_start_with_one_sentence(limits):
    limits["limits"] = (64, 64)
    with pytest.raises(StartupError, match=r"may open 64 files, a broker needs 128: raise the limit \(ulimit -Hn\)"):
        raise_descriptor_limit()


def test_no_limit_at_all_is_fine(limits):
    limits["limits"] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert raise_descriptor_limit() > 1_000_000


def test_connections_leave_half_of_the_descriptors_to_the_logs():
    with capture_logs() as lines:
        assert connections_within(1_024, wanted=10_000) == 512
    assert lines[0]["open_files_limit"] == 1_024


def test_connections_that_fit_are_not_spoken_of():
    with capture_logs() as lines:
        assert connections_within(20_000, wanted=10_000) == 10_000
    assert lines == []
