"""The rows of SCRAM users as their page shows them."""

from django.template.loader import render_to_string

from console.cluster.credentials.models import ScramUser
from console.cluster.credentials.queries import with_quotas
from console.kit.access.buttons import buttons_for
from console.kit.access.reach import Reach
from console.kit.live.rows import ChangedPartitions, Parts


def scram_rows(keys: list[int], reach: Reach, _partitions: ChangedPartitions) -> dict[int, Parts]:
    users = with_quotas(ScramUser.objects.filter(pk__in=keys)) if reach.sees_all_names else []
    template, buttons = "credentials/partials/user-row.html", buttons_for(reach)
    return {user.pk: (render_to_string(template, {"scram_user": user, **buttons}),) for user in users}
