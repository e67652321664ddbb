"""The rows of the placement matrix as its page shows them."""

from django.template.loader import render_to_string

from console.cluster.placement.queries import matrix_rows
from console.kit.access.reach import Reach
from console.kit.live.rows import ChangedPartitions, Parts
from console.state.clusters.access import topics_within


def placement_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    rows = matrix_rows(list(topics_within(reach).filter(pk__in=keys)))
    return {row.topic.pk: (render_to_string("placement/partials/matrix-row.html", {"row": row}),) for row in rows}
