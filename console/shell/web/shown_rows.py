"""Rows as a page shows them, for a person of some reach: the one place through which a changed row reaches a browser.

A row out of reach is not found, so it is not sent. What is rendered for one reach goes to every page of that reach.
"""

from collections.abc import Collection, Mapping

from django.template.loader import render_to_string

from console.cluster.credentials.models import ScramUser
from console.cluster.credentials.queries import with_quotas
from console.cluster.placement.queries import matrix_rows
from console.cluster.quotas.models import QuotaRow
from console.cluster.topics.queries import as_listed, with_groups
from console.ecosystem.connectors.access import connectors_within
from console.ecosystem.connectors.queries import shown
from console.kit.access.reach import Reach, Resource
from console.kit.access.read_only import why_read_only
from console.kit.access.rights import CLUSTER, Right
from console.shell.web.watched import Key
from console.state.clusters.access import topics_within
from console.state.clusters.models import Partition
from console.state.consumers.access import groups_within
from console.state.consumers.queries import with_topics_within

#: The messages of one row: two, if it consists of table rows and of something else; none: the page fetches itself.
Parts = tuple[str, ...]
#: With more partitions than a page shows, the page of a topic fetches itself.
PARTITIONS_MAX = 100


def render_rows(wanted: Collection[Key], partitions: Mapping[int, list[int]], reach: Reach) -> dict[Key, Parts]:
    """Those of `wanted` that are there and in reach. `partitions`: of topics' pages, those that changed."""
    found: dict[Key, Parts] = {}
    for kind in {kind for kind, _ in wanted}:
        keys = [key for each, key in wanted if each == kind]
        rendered = _topic_pages(keys, partitions, reach) if kind == "topic-page" else _RENDERERS[kind](keys, reach)
        found.update({(kind, key): parts for key, parts in rendered.items()})
    return found


def _topic_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    topics = with_groups(as_listed(topics_within(reach).filter(pk__in=keys)), reach)
    return {each.pk: (render_to_string("topics/partials/topic-row.html", {"topic": each}),) for each in topics}


def _placement_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    rows = matrix_rows(list(topics_within(reach).filter(pk__in=keys)))
    return {row.topic.pk: (render_to_string("placement/partials/matrix-row.html", {"row": row}),) for row in rows}


def _group_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    groups = with_topics_within(groups_within(reach).filter(pk__in=keys).defer("members"), reach)
    return {each.pk: (render_to_string("consumers/partials/group-row.html", {"group": each}),) for each in groups}


def _group_pages(keys: list[int], reach: Reach) -> dict[int, Parts]:
    return dict.fromkeys(groups_within(reach).filter(pk__in=keys).values_list("pk", flat=True), ())


def _scram_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    users = with_quotas(ScramUser.objects.filter(pk__in=keys)) if reach.sees_all_names else []
    template, offered = "credentials/partials/user-row.html", _offered(reach)
    return {each.pk: (render_to_string(template, {"scram_user": each, **offered}),) for each in users}


def _quota_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    rows = QuotaRow.objects.filter(pk__in=keys) if reach.sees_all_names else []
    template, offered = "quotas/partials/quota-row.html", _offered(reach)
    return {each.pk: (render_to_string(template, {"row": each, **offered}),) for each in rows}


def _connector_rows(keys: list[int], reach: Reach) -> dict[int, Parts]:
    rows = shown(connectors_within(reach).filter(pk__in=keys).defer("trace", "config"), reach)
    return {
        each.row.pk: (render_to_string("connectors/partials/connector-row.html", {"connector": each}),) for each in rows
    }


def _connector_pages(keys: list[int], reach: Reach) -> dict[int, Parts]:
    return dict.fromkeys(connectors_within(reach).filter(pk__in=keys).values_list("pk", flat=True), ())


def _offered(reach: Reach) -> dict[str, object]:
    """What a row with buttons asks about who sees it, as `access/context.py` says it of a page."""
    held, read_only = reach.rights_on(Resource.CLUSTER, CLUSTER), why_read_only()
    return {
        "can_operate": Right.OPERATE in held and not read_only,
        "can_administer": Right.ADMINISTER in held,
        "read_only": read_only,
    }


def _topic_pages(keys: list[int], partitions: Mapping[int, list[int]], reach: Reach) -> dict[int, Parts]:
    found: dict[int, Parts] = {}
    for topic in topics_within(reach).filter(pk__in=keys):
        numbers = partitions.get(topic.pk)
        if numbers is None or len(numbers) > PARTITIONS_MAX:
            found[topic.pk] = ()
            continue
        changed = Partition.objects.filter(topic=topic, partition__in=numbers).select_related("topic")
        found[topic.pk] = (
            render_to_string("topics/partials/topic-summary.html", {"topic": topic}),
            render_to_string("topics/partials/partition-rows.html", {"partitions": changed}),
        )
    return found


_RENDERERS = {
    "topic-row": _topic_rows,
    "placement-row": _placement_rows,
    "group-row": _group_rows,
    "group-page": _group_pages,
    "scram-row": _scram_rows,
    "quota-row": _quota_rows,
    "connector-row": _connector_rows,
    "connector-page": _connector_pages,
}
