"""Where a topic ends is asked of who leads now, though librdkafka's admin remembers who led before."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException

from broker.connect.storage import logs


@pytest.fixture(params=[KafkaError.FENCED_LEADER_EPOCH, KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._NOENT])
def admins(monkeypatch, request):
    """The first that is made knows an older epoch, or asks a broker that has not heard of a new topic; the next knows
    what is true."""
    made = []

    class Admin:
        def __init__(self, _settings):
            made.append(self)
            self.is_stale = len(made) == 1

        def list_offsets(self, asked, **_options):
            told = Future()
            if self.is_stale:
                told.set_exception(KafkaException(KafkaError(request.param)))
            else:
                told.set_result(SimpleNamespace(offset=0))
            return dict.fromkeys(asked, told)

    monkeypatch.setattr(logs, "AdminClient", Admin)
    return made


def test_an_admin_that_does_not_know_what_is_true_is_made_anew(admins):
    log = logs.TopicLog("connect-configs", 1, 1, {}, lambda *_: None)
    log._reached = {0: 0}
    log._admin = logs.AdminClient({})
    log.read_to_end()
    assert len(admins) == 2
