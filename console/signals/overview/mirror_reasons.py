"""Mirrors that do not copy what they should, as reasons: topics that fail, mirrors that say nothing any more. Pure."""

from collections.abc import Iterable

from console.signals.overview.health import Action, Level, Reason, TroubledMirror

_ERROR_LENGTH_MAX = 300


def mirror_reasons(mirrors: Iterable[TroubledMirror]) -> Iterable[Reason]:
    for each in mirrors:
        subject = f"Mirror {each.flow}"
        if each.failing:
            where = each.cluster or "this cluster"
            text = f"{_topics(each.failing)} not copied into {where}: records are missing there."
            action = Action("See which, and what they are told", "mirrors")
            error = each.error[:_ERROR_LENGTH_MAX]
            yield Reason(
                Level.WARNING, subject, text, action, error, key=f"mirror fails:{each.flow}", weight=each.failing
            )
        if each.silent:
            text = f"Nothing is said any more of {each.silent} of its topics: nobody seems to copy them."
            action = Action("Start the mirror again, or its connector; copies stay and are gone on with", "mirrors")
            yield Reason(
                Level.WARNING, subject, text, action, "A mirror tells of each topic once a minute", each.since_ms,
                f"mirror silent:{each.flow}", each.silent,
            )  # fmt: skip


def _topics(count: int) -> str:
    return f"{count} topic{' is' if count == 1 else 's are'}"
