"""The rows of quotas as their page shows them."""

from django.template.loader import render_to_string

from console.cluster.quotas.models import QuotaRow
from console.kit.access.buttons import buttons_for
from console.kit.access.reach import Reach
from console.kit.live.rows import ChangedPartitions, Parts


def quota_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    rows = QuotaRow.objects.filter(pk__in=keys) if reach.sees_all_names else []
    template, buttons = "quotas/partials/quota-row.html", buttons_for(reach)
    return {row.pk: (render_to_string(template, {"row": row, **buttons}),) for row in rows}
