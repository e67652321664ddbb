"""A consumer group in trouble, as the health of the cluster takes it."""

from console.signals.overview.health import TroubledGroup
from console.state.consumers.models import ConsumerGroup


def as_troubled_group(group: ConsumerGroup) -> TroubledGroup:
    verdict = group.judgement
    return TroubledGroup(
        group.name,
        verdict.value,
        verdict.meaning,
        group.lag,
        group.member_count,
        group.lost,
        group.behind_ms,
        group.expires_in_ms if group.is_expiring else None,
        group.why_behind,
        group.is_losing,
        group.lost_since_ms,
        group.read_per_second,
        group.verdict_since_ms,
        group.empty_since_ms,
    )
