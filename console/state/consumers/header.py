"""What the header of a consumer group's pages tells of it."""

from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.figures import duration, grouped
from console.kit.features.headers import HeaderFacts, HeaderLink, KeyFigure, unread
from console.state.clusters.queries import cluster_state
from console.state.consumers.access import reads_beyond
from console.state.consumers.models import ConsumerGroup
from console.state.consumers.rows import details_of

_RESET, _DELETE = "Reset offsets…", "Delete group…"


def facts(group: ConsumerGroup, reach: Reach) -> HeaderFacts:
    """Return the facts of `group`. A group that also reads hidden topics, or is not understood, is not changed."""
    verdict, rights = group.judgement, reach.rights_on(Resource.GROUP, group.name)
    is_understood, why_unknown = group.is_understood, details_of(group.details).unknown_because
    seen = HeaderFacts(
        name=group.name,
        note="" if group.group_type == "classic" else group.group_type,
        word=verdict.value if is_understood else "unknown",
        tone=verdict.tone if is_understood else "idle",
        meaning=verdict.meaning if is_understood else why_unknown,
        figures=(
            KeyFigure("Consumer lag", grouped(group.lag), "lag", "Records not read"),
            KeyFigure(
                "Behind by",
                "–" if group.lag == 0 else duration(group.behind_ms),
                "behind",
                "How long the oldest unread record has waited",
            ),
            KeyFigure("Members", grouped(group.member_count), "members"),
        ),
        rights=rights & {Right.VIEW} if reads_beyond(group, reach) else rights,
        main=_RESET if is_understood else HeaderLink(_RESET, why_not=why_unknown),
        without=frozenset() if is_understood else frozenset({_DELETE}),
    )
    outage = cluster_state().groups_outage
    return unread(seen, outage.sentence) if outage else seen
