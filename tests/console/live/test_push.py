import pytest
from django.db import transaction

from console.clusters.models import Topic
from console.live.push import push_partial, send_now


@pytest.fixture
def sent(monkeypatch):
    messages = []
    monkeypatch.setattr("console.live.push.send_now", messages.extend)
    return messages


@pytest.fixture
def row(db):
    return {"topic": Topic(pk=7, name="orders", partition_count=3)}


@pytest.mark.usefixtures("listeners")
def test_a_partial_is_sent_when_the_transaction_commits(row, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        push_partial("topics", "topics/partials/topic-row.html", row)
    assert sent == []
    callbacks[0]()

    ((group, html),) = sent
    assert group == "topics"
    assert 'id="topic-row-7"' in html


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_is_not_pushed(row, sent):
    with transaction.atomic():
        push_partial("topics", "topics/partials/topic-row.html", row)
        transaction.set_rollback(True)

    assert sent == []


def test_a_broken_channel_layer_costs_a_log_line_and_nothing_else(monkeypatch, caplog):
    class BrokenLayer:
        async def group_send(self, group: str, message: dict) -> None:
            raise ConnectionError("redis is gone")

    monkeypatch.setattr("console.live.push.get_channel_layer", BrokenLayer)
    send_now([("topics", "<p></p>")])

    assert "redis is gone" in caplog.text
