"""What the header of a topic's pages tells of it."""

from console.cluster.topics.queries import with_groups
from console.kit.access.reach import Reach
from console.kit.access.rights import REFUSALS, Right
from console.kit.common.figures import grouped, rate, size
from console.kit.features.headers import HeaderFacts, HeaderLink, KeyFigure, unread
from console.state.clusters.access import refusal_to_write, rights_on_topic
from console.state.clusters.models import Topic
from console.state.clusters.queries import cluster_state

_PRODUCE = "Produce a record…"


def facts(topic: Topic, reach: Reach) -> HeaderFacts:
    """Return the facts of `topic`; the lag is that of the groups in reach, and is read where the topic has none."""
    if "lag" not in vars(topic):
        with_groups([topic], reach)
    rights = rights_on_topic(reach, topic)
    why_not = refusal_to_write(topic) or ("" if Right.RECORDS in rights else REFUSALS[Right.RECORDS])
    seen = HeaderFacts(
        name=topic.name,
        word=topic.state_word,
        tone=topic.state_tone,
        figures=(
            KeyFigure("Messages in / s", rate(topic.records_per_second), "rate"),
            KeyFigure("Consumer lag", grouped(topic.lag), "lag", "Records not read, all groups together"),
            KeyFigure("Size", size(topic.size_bytes), "size", "On disk, all replicas together"),
        ),
        rights=rights,
        main=HeaderLink(_PRODUCE, why_not=why_not) if why_not else _PRODUCE,
        row=f"topic-head-{topic.pk}",
    )
    outage = cluster_state().outage
    return unread(seen, outage.sentence) if outage else seen
