"""The rows of consumer groups as pages show them."""

from django.template.loader import render_to_string

from console.kit.access.reach import Reach
from console.kit.live.rows import ChangedPartitions, Parts
from console.state.clusters.queries import cluster_state
from console.state.consumers.access import groups_within
from console.state.consumers.queries import with_topics_within


def group_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    groups = with_topics_within(groups_within(reach).filter(pk__in=keys).defer("members"), reach)
    template, cluster = "consumers/partials/group-row.html", cluster_state()
    return {group.pk: (render_to_string(template, {"group": group, "cluster": cluster}),) for group in groups}


def group_pages(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    return dict.fromkeys(groups_within(reach).filter(pk__in=keys).values_list("pk", flat=True), ())
