"""The rows of connectors as pages show them."""

from django.template.loader import render_to_string

from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.queries import shown
from console.kit.access.reach import Reach
from console.kit.live.rows import ChangedPartitions, Parts


def connector_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    connectors = shown(connectors_within(reach).filter(pk__in=keys).defer("trace"), reach)
    template = "connectors/partials/connector-row.html"
    return {connector.row.pk: (render_to_string(template, {"connector": connector}),) for connector in connectors}


def connector_pages(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    return dict.fromkeys(connectors_within(reach).filter(pk__in=keys).values_list("pk", flat=True), ())
