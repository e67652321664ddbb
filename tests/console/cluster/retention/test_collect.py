"""The collector's look at retention holds while topics come and go."""

import pytest

from console.cluster.retention.collect import RetentionSweep
from console.cluster.retention.models import TopicOutlook
from console.state.clusters.models import Topic


@pytest.mark.django_db(transaction=True)
def test_topic_that_is_deleted_while_it_is_looked_at_keeps_nobody_elses_look(cluster, clock, collect, monkeypatch):
    for name in ("orders", "payments"):
        cluster.create_topic(name, 1, 1)
    collect()
    clock.advance(60_000)
    orders, payments = (Topic.objects.get(name=name).pk for name in ("orders", "payments"))
    oldest_records = cluster.oldest_records

    def answer_late(places):
        Topic.objects.filter(pk=orders).delete()
        return oldest_records(places)

    monkeypatch.setattr(cluster, "oldest_records", answer_late)
    looked_at = RetentionSweep(cluster, clock.now_ms).look()

    assert payments in looked_at
    assert orders not in looked_at
    assert TopicOutlook.objects.get(topic_id=payments).at_ms == clock.now_ms()
