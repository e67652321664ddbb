"""Where a topic ends is asked of who leads now, though librdkafka's admin remembers who led before."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.connect.storage import logs

_RETRIABLE = [
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._NOENT,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REQUEST_TIMED_OUT,
    TimeoutError,
]


@pytest.fixture(params=_RETRIABLE, ids=str)
def admins(monkeypatch, request):
    """The first that is made knows an older epoch, or asks a broker that has not heard of a new topic; the next knows
    what is true."""
    made = []

    class Admin:
        def __init__(self, _settings):
            made.append(self)
            self.is_stale = len(made) == 1

        def list_offsets(self, partitions, **_options):
            future = Future()
            if self.is_stale:
                is_code = isinstance(request.param, int)
                future.set_exception(KafkaException(KafkaError(request.param)) if is_code else request.param())
            else:
                future.set_result(SimpleNamespace(offset=0))
            return dict.fromkeys(partitions, future)

    monkeypatch.setattr(logs, "AdminClient", Admin)
    return made


def test_an_admin_that_does_not_know_what_is_true_is_made_anew(admins):
    log = logs.TopicLog("connect-configs", 1, 1, {}, lambda *_: None)
    log._reached = {0: 0}
    log._admin = logs.AdminClient({})
    log.read_to_end()
    assert len(admins) == 2


def test_an_error_that_waiting_does_not_mend_is_told_at_once(monkeypatch):
    class Admin:
        def __init__(self, _settings):
            self.requests = 0

        def list_offsets(self, partitions, **_options):
            self.requests += 1
            future = Future()
            future.set_exception(KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)))
            return dict.fromkeys(partitions, future)

    monkeypatch.setattr(logs, "AdminClient", Admin)
    log = logs.TopicLog("connect-configs", 1, 1, {}, lambda *_: None)
    log._reached, log._admin = {0: 0}, Admin({})
    with pytest.raises(logs.StorageError, match="the end of 'connect-configs' is not known"):
        log.read_to_end()
    assert log._admin.requests == 1
