"""What is pushed when groups changed: rows of the list, and to the pages of groups and topics that they should look."""

from django.template.loader import render_to_string

from console.consumers.models import ConsumerGroup
from console.consumers.rows import GroupChanges
from console.live import groups
from console.live.clock import now_ms
from console.live.push import send_now

#: With more changed groups at once, every page is told to fetch what it shows.
ROWS_PER_PUSH_MAX = 200


class GroupAnnouncer:
    """For one thread."""

    def groups_changed(self, changes: GroupChanges) -> None:
        if not changes:
            return
        version = now_ms()
        names = changes.names
        resync = render_to_string("live/resync.html", {"version": version})
        if changes.is_list_changed or len(names) > ROWS_PER_PUSH_MAX:
            html = render_to_string("consumers/partials/list-version.html", {"version": version})
            send_now([(groups.CONSUMERS, html)])
        else:
            rows = ConsumerGroup.objects.filter(name__in=names).defer("members")
            html = render_to_string("consumers/partials/group-rows.html", {"groups": rows})
            send_now([(groups.CONSUMERS, html)])
        if len(names) > ROWS_PER_PUSH_MAX:
            send_now([(groups.CONSUMER_PAGES, resync)])
            return
        known = ConsumerGroup.objects.filter(name__in=names).values_list("pk", flat=True)
        html = render_to_string("consumers/partials/page-versions.html", {"keys": known, "version": version})
        send_now([(groups.CONSUMER_PAGES, html if not changes.deleted else html + resync)])
