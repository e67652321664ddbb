"""Counts that were made: the newest of a topic, for whoever may see as much as who made them."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User

from console.cluster.contents.models import ROWS_MAX, Counted
from console.cluster.records.masking import MaskPath
from console.kit.common.clock import now_ms
from console.kit.common.databases import cluster_atomic
from console.state.clusters.models import Topic


def fingerprint(hidden: Sequence[MaskPath]) -> str:
    return sha256(json.dumps(sorted(path.text for path in hidden)).encode()).hexdigest()


@cluster_atomic()
def keep(
    actor: User, topic: Topic, hidden: Sequence[MaskPath], window: str, ended: str, profile: dict[str, Any]
) -> None:
    """Store the profile in place of an earlier one of the same topic and hidden parts."""
    values = {
        "at_ms": now_ms(),
        "actor_name": actor.get_username(),
        "window": window,
        "ended": ended,
        "profile": profile,
    }
    values["topic_id"] = topic.topic_id
    Counted.objects.update_or_create(topic=topic.name, hidden=fingerprint(hidden), defaults=values)
    too_many = Counted.objects.order_by("-at_ms", "-id").values_list("id", flat=True)[ROWS_MAX:]
    Counted.objects.filter(id__in=list(too_many)).delete()


def kept(topic: Topic, hidden: Sequence[MaskPath]) -> Counted | None:
    """Return the stored profile of this topic; None for an earlier topic of the same name."""
    of_topic = Counted.objects.filter(topic=topic.name, topic_id=topic.topic_id)
    return of_topic.filter(hidden=fingerprint(hidden)).first()
