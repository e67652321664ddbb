"""The rows of topics as pages show them."""

from django.template.loader import render_to_string

from console.cluster.topics.eligible import with_eligible
from console.cluster.topics.queries import as_listed, with_groups
from console.kit.access.reach import Reach
from console.kit.features.headers import figures_html
from console.kit.live.rows import ChangedPartitions, Parts
from console.state.clusters.access import topics_within
from console.state.clusters.models import Partition
from console.state.clusters.queries import cluster_state

#: With more partitions than a page shows, the page of a topic fetches itself.
PARTITIONS_MAX = 100


def topic_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    topics = with_groups(as_listed(topics_within(reach).filter(pk__in=keys)), reach)
    template, cluster = "topics/partials/topic-row.html", cluster_state()
    return {topic.pk: (render_to_string(template, {"topic": topic, "cluster": cluster}),) for topic in topics}


def topic_heads(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    topics = with_groups(topics_within(reach).filter(pk__in=keys), reach)
    return {topic.pk: (figures_html("topic", topic, reach),) for topic in topics}


def topic_pages(keys: list[int], reach: Reach, partitions: ChangedPartitions) -> dict[int, Parts]:
    pages: dict[int, Parts] = {}
    cluster = cluster_state()
    keeps_elr = cluster.keeps_elr
    for topic in topics_within(reach).filter(pk__in=keys):
        numbers = partitions.get(topic.pk)
        # Only the cluster knows the ELR of a troubled topic: its page asks, and the collector does not.
        is_asked = keeps_elr and bool(topic.leaderless_count or topic.under_min_isr_count)
        if numbers is None or len(numbers) > PARTITIONS_MAX or is_asked:
            pages[topic.pk] = ()
            continue
        changed = Partition.objects.filter(topic=topic, partition__in=numbers).select_related("topic")
        rows = {"partitions": with_eligible(changed, None), "cluster": cluster}
        pages[topic.pk] = (
            render_to_string("topics/partials/topic-summary.html", {"topic": topic}),
            render_to_string("topics/partials/partition-rows.html", rows),
        )
    return pages
