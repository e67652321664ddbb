from console.kit.common.list_length import ListLength
from console.state.clusters.models import Partition, Topic


def test_the_database_counts_and_compares_lists(db):
    topic = Topic.objects.create(name="orders")
    for number, (replicas, isr) in enumerate([([1, 2, 3], [1, 2]), ([], []), ([7], [7])]):
        Partition.objects.create(topic=topic, partition=number, replicas=replicas, isr=isr)
    counted = Partition.objects.annotate(held=ListLength("replicas"), in_sync=ListLength("isr"))

    assert list(counted.values_list("held", "in_sync")) == [(3, 2), (0, 0), (1, 1)]
    assert counted.get(in_sync__lt=ListLength("replicas")).partition == 0
