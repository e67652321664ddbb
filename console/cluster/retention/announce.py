"""The push of what the sweep saw: rows of the topics looked at, and the disks when they read differently."""

from collections.abc import Collection

from django.template.loader import render_to_string

from console.cluster.retention.feature import LIVE_GROUP
from console.cluster.retention.queries import disks, with_outlooks
from console.kit.live.audience import listened
from console.kit.live.push import send_now
from console.state.clusters.models import Topic


class RetentionAnnouncer:
    def __init__(self) -> None:
        self._disks = ""

    def looked_at(self, topics: Collection[int]) -> None:
        """Push looked-at topics by primary key. Without listeners nothing is rendered, and what was sent last is
        forgotten.
        """
        if not listened([LIVE_GROUP]):
            self._disks = ""
            return
        messages = []
        outlooks = with_outlooks(Topic.objects.filter(pk__in=topics).select_related("outlook"))
        if outlooks:
            messages.append((LIVE_GROUP, render_to_string("retention/partials/rows.html", {"topics": outlooks})))
        html = render_to_string("retention/partials/disks.html", {"disks": disks()})
        if html != self._disks:
            self._disks = html
            messages.append((LIVE_GROUP, html))
        send_now(messages)
