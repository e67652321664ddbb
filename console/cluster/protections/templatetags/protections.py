"""`{% protections topic %}`: what protects a topic, for its page, with the names that the person may see."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django import template

from console.cluster.protections.models import TopicProtection
from console.cluster.protections.store import protections_of
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, has_right, reach_of
from console.state.clusters.models import Topic

register = template.Library()


class ShownProtection(NamedTuple):
    number: int
    what: str
    why: str
    since_ms: int


@register.inclusion_tag("protections/panel.html", takes_context=True)
def protections(context: Mapping[str, Any], topic: Topic) -> dict[str, object]:
    person = context["request"].user
    reach = reach_of(person)
    rows = [_shown(item, reach) for item in protections_of(topic)]
    return {"topic": topic, "rows": rows, "may_remove": has_right(person, Right.ADMINISTER)}


def _shown(row: TopicProtection, reach: Reach) -> ShownProtection:
    what, why = row.what, row.why
    if row.origin and not reach.sees(Resource.TOPIC, row.origin):
        what = "masking rules of a topic that your rights do not reach"
    if row.source and not reach.sees(Resource.PROCESS, row.source):
        why = f"{row.where} that your rights do not reach"
    return ShownProtection(row.pk, what, why, row.since_ms)
