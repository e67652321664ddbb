"""Mirrors that do not copy what they should, as reasons: topics that fail, mirrors that say nothing any more. Pure."""

from collections.abc import Iterable

from console.signals.overview.health import HealthLevel, HealthReason, TroubledMirror
from console.signals.overview.next_action import NextAction

_ERROR_LENGTH_MAX = 300


def mirror_reasons(mirrors: Iterable[TroubledMirror]) -> Iterable[HealthReason]:
    for mirror in mirrors:
        subject = f"Mirror {mirror.flow}"
        if mirror.failing:
            where = mirror.cluster or "this cluster"
            text = f"{_topics(mirror.failing)} not copied into {where}: records are missing there."
            action = NextAction("Show the topics and their errors", "mirrors")
            error = mirror.error[:_ERROR_LENGTH_MAX]
            yield HealthReason(
                HealthLevel.WARNING,
                subject,
                text,
                action,
                error,
                key=f"mirror fails:{mirror.flow}",
                weight=mirror.failing,
            )
        if mirror.silent:
            text = f"{mirror.silent} of its topics are not reported any more: no mirror seems to copy them."
            action = NextAction("Start the mirror again, or its connector; copies stay and are gone on with", "mirrors")
            yield HealthReason(
                HealthLevel.WARNING, subject, text, action, "A mirror tells of each topic once a minute",
                mirror.since_ms, f"mirror silent:{mirror.flow}", mirror.silent,
            )  # fmt: skip


def _topics(count: int) -> str:
    return f"{count} topic{' is' if count == 1 else 's are'}"
