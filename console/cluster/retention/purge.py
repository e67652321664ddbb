"""Deleting the records of a topic up to an offset, as a plan: where logs begin then, and who loses what. Pure.

What is confirmed are the offsets that were shown, not the wish again: what is written meanwhile stays.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from console.cluster.retention.plan import UnreadLoss
from console.kit.common.figures import grouped
from console.kit.gateway.commands import shell_command
from console.kit.gateway.records.interface import OffsetSpan
from console.kit.plans.plan import Plan, PlanLine
from console.processes.topic_users import TopicUsage, sentences

PURGE = "delete records"
#: Partitions of one plan.
PARTITIONS_MAX = 2_000
#: Groups that are named one by one.
_GROUPS_NAMED = 5


class PurgeBound(StrEnum):
    END = "end"
    TIME = "time"
    OFFSET = "offset"


@dataclass(frozen=True, slots=True)
class Doomed:
    """What is known of a topic whose records shall go. `silent`: partitions that do not answer, and are left alone."""

    topic: str
    topic_id: str
    cleanup_policy: str
    is_internal: bool
    spans: Mapping[int, OffsetSpan]
    silent: tuple[int, ...] = ()
    #: What stream jobs, connectors and mirrors do with the topic.
    uses: tuple[TopicUsage, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class PurgedPartition:
    """A purged partition: its old and its new log start."""

    partition: int
    span: OffsetSpan
    before: int

    @property
    def records(self) -> int:
        return self.before - self.span.first


def aimed_at(
    upto: PurgeBound, spans: Mapping[int, OffsetSpan], offset: int = 0, at: Mapping[int, int | None] | None = None
) -> dict[int, int]:
    """Return partition → the first offset that stays, within its log.

    `at`: by partition the first offset of the moment, None where all is older; one that is missing did not answer, and
    is left out.
    """
    if upto is PurgeBound.END:
        return {partition: span.next for partition, span in spans.items()}
    if upto is PurgeBound.OFFSET:
        return {partition: min(max(offset, span.first), span.next) for partition, span in spans.items()}
    offsets = at or {}
    first_kept = {span: offsets[span] for span in spans if span in offsets}
    return {item: spans[item].next if kept is None else kept for item, kept in first_kept.items()}


def cuts_of(doomed: Doomed, before: Mapping[int, int]) -> tuple[PurgedPartition, ...]:
    """Return the purges that delete something. Raises ValueError for an offset beyond a log's end."""
    partitions = [
        PurgedPartition(item, doomed.spans[item], offset)
        for item, offset in sorted(before.items())
        if item in doomed.spans
    ]
    for cut in partitions:
        if cut.before > cut.span.next:
            raise ValueError(f"Partition {cut.partition} ends at offset {cut.span.next}, before {cut.before}.")
    return tuple(cut for cut in partitions if cut.records > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgePlan(Plan):
    """`starts`: partition → the first offset that stays."""

    starts: Mapping[int, int]


def purge_plan(
    doomed: Doomed,
    cuts: Iterable[PurgedPartition],
    losses: Iterable[UnreadLoss],
    bootstrap_servers: str,
    hidden_losses: int = 0,
) -> PurgePlan:
    """Return the plan of a purge. It confirms the new log starts; old ones and groups' positions change by themselves.

    `hidden_losses`: groups that lose something and may not be named.
    """
    cuts = tuple(cuts)
    return PurgePlan(
        starts={cut.partition: cut.before for cut in cuts},
        action=PURGE,
        object_type="topic",
        object_name=doomed.topic,
        lines=tuple(PlanLine(f"partition {cut.partition}", cut.span.first, cut.before, is_told=True) for cut in cuts),
        read=(
            doomed.topic_id,
            f"policy={doomed.cleanup_policy}",
            *(f"{cut.partition} begins at {cut.before}" for cut in cuts),
            *(use.confirmed for use in doomed.uses),
        ),
        touches=tuple(_touches(doomed)),
        losses=tuple(_losses(cuts, losses, hidden_losses)),
        safe_because="",
        command=_command(doomed.topic, cuts, bootstrap_servers),
        typed_name=doomed.topic,
        obstacle=_obstacle(doomed),
    )


def _losses(cuts: tuple[PurgedPartition, ...], losses: Iterable[UnreadLoss], hidden: int) -> Iterable[str]:
    count = sum(cut.records for cut in cuts)
    records = f"{grouped(count)} record{'' if count == 1 else 's'}"
    places = f"{len(cuts)} partition{'' if len(cuts) == 1 else 's'}"
    yield f"Up to {records} in {places} are deleted for good; their offsets are not used again."
    losing = list(losses)
    for loss in losing[:_GROUPS_NAMED]:
        yield f"Group {loss.group} has not read {grouped(loss.records)} of them, and never will."
    if len(losing) > _GROUPS_NAMED:
        yield f"{len(losing) - _GROUPS_NAMED} more groups lose unread records."
    if hidden:
        yield f"{hidden} group{' loses' if hidden == 1 else 's lose'} unread records beyond the reach of your rights."


def _touches(doomed: Doomed) -> Iterable[str]:
    yield (
        "Disk space comes back segment by segment: of the segment that holds a new beginning all stays, unseen, until "
        "it goes as a whole."
    )
    if doomed.silent:
        numbers = ", ".join(map(str, doomed.silent[:10])) + (" …" if len(doomed.silent) > 10 else "")
        plural = "" if len(doomed.silent) == 1 else "s"
        yield f"Partition{plural} {numbers} did not answer: nothing is deleted there."
    yield from sentences(doomed.uses, " and is running.", ", and is not running now.")


def _obstacle(doomed: Doomed) -> str:
    if doomed.is_internal:
        return "This topic is Kafka's own: without its records groups lose their positions, or transactions their end."
    if "delete" not in (doomed.cleanup_policy or "delete"):
        return (
            "Its cleanup.policy is compact, and Kafka deletes up to an offset only where it holds delete. What a key "
            "says is taken away by a tombstone: open a record of it in Messages."
        )
    return ""


def _command(topic: str, cuts: tuple[PurgedPartition, ...], bootstrap_servers: str) -> str:
    partitions = [{"topic": topic, "partition": cut.partition, "offset": cut.before} for cut in cuts]
    offsets_json = json.dumps({"version": 1, "partitions": partitions})
    command = shell_command("kafka-delete-records", bootstrap_servers, {"offset-json-file": "before.json"})
    return f"cat > before.json <<'END'\n{offsets_json}\nEND\n{command}"
