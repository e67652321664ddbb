"""`kafka-consumer-groups --reset-offsets`: what was typed becomes an offset for each partition, and is committed."""

import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from broker.cli.frame.declaration import Arguments, UsageError
from broker.cli.frame.output import print_json, wants_json
from broker.cli.groups.group_listing import reset_lines
from broker.cli.groups.group_resets import Resets, export, read_export, within_log
from broker.client.groups import GroupClient
from broker.client.leaders import Leaders
from broker.client.offsets import list_offsets
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP

SCOPES = ("all-topics", "topic")
TARGETS = (
    "to-offset", "shift-by", "to-datetime", "by-duration", "to-earliest", "to-latest", "from-file", "to-current"
)  # fmt: skip
#: Only a group that nobody is a member of may be moved: its members would go on where they are, and commit that.
_INACTIVE = ("Empty", "Dead")
_WITHOUT_EXECUTE = (
    "WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require "
    "either --dry-run or --execute to be specified. You should add the --dry-run option explicitly if you are "
    "scripting this command and want to keep the current default behavior without prompting."
)


def check_reset(arguments: Arguments) -> None:
    """Warn on stderr where nothing is going to be done. Raises UsageError."""
    if arguments["dry-run"] and arguments["execute"]:
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not arguments["dry-run"] and not arguments["execute"]:
        print(_WITHOUT_EXECUTE, file=sys.stderr)
    if not arguments["group"] and not arguments["all-groups"]:
        raise UsageError("Option [reset-offsets] takes one of these options: [all-groups], [group]")
    targets = [target for target in TARGETS if arguments.given(target)]
    named = ", ".join(f"[{target}]" for target in TARGETS)
    if not targets:
        raise UsageError(f"Option [reset-offsets] requires one of the following scenarios: {named}")
    if len(targets) > 1:
        raise UsageError(f'Option "[{targets[0]}]" can\'t be used with option "[{targets[1]}]"')
    if targets != ["from-file"] and not any(arguments.given(scope) for scope in SCOPES):
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")


def reset(groups: GroupClient, leaders: Leaders, arguments: Arguments) -> None:
    """Raises as Groups and `list_offsets` do, ValueError for a file or an offset that cannot be meant."""
    names = [group.group_id for group in groups.listed()] if arguments["all-groups"] else arguments["group"]
    planned = read_export(_text(arguments["from-file"]), names) if arguments.given("from-file") else {}
    resets: Resets = {}
    with_group = len(names) != 1 or arguments["all-groups"]
    try:
        for name in dict.fromkeys(names):
            target = _Target(groups, leaders, arguments, name)
            resets[name] = _reset(groups, target, planned.get(name, {}), executes=arguments["execute"])
    except (BarnabasError, ValueError):
        if arguments["execute"] and any(resets.values()):
            _print(resets, arguments, with_group=with_group)  # these have been moved already
        raise
    _print(resets, arguments, with_group=with_group)


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text") from None


def _reset(
    groups: GroupClient, target: "_Target", planned: Mapping[TopicPartition, int], *, executes: bool
) -> dict[TopicPartition, int]:
    state = groups.described(target.group).state
    if state not in _INACTIVE:
        print(
            f"\nError: Assignments can only be reset if the group '{target.group}' is inactive, but the current state "
            f"is {state}."
        )
        return {}
    offsets = target.offsets(planned)
    if executes and offsets:
        groups.commit(target.group, offsets)
    return offsets


def _print(resets: Resets, arguments: Arguments, *, with_group: bool) -> None:
    if arguments["export"]:
        print(export(resets, with_group=with_group))
    elif wants_json(arguments):
        print_json(
            [
                {"group": group, **partition._asdict(), "newOffset": offset}
                for group, offsets in resets.items()
                for partition, offset in sorted(offsets.items())
            ]
        )
    else:
        print("\n".join(reset_lines(resets)))


def partitions_of_scope(leaders: Leaders, topics: Iterable[tuple[str, list[int] | None]]) -> list[TopicPartition]:
    """Return all partitions of `t`, or of `t:0,1` those two. Raises ApiError if there is no such topic."""
    partitions: list[TopicPartition] = []
    for topic, numbers in topics:
        known = leaders.partitions(topic)
        wanted = known if numbers is None else [TopicPartition(topic, number) for number in numbers]
        absent = [str(partition) for partition in wanted if partition not in known]
        if absent:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {', '.join(absent)}")
        partitions += wanted
    return partitions


class _Target:
    """The target offsets of one group, as typed."""

    def __init__(self, groups: GroupClient, leaders: Leaders, arguments: Arguments, group: str):
        self.group = group
        self._groups, self._leaders, self._arguments = groups, leaders, arguments

    def offsets(self, planned: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        arguments = self._arguments
        if arguments.given("from-file"):
            return self._bounded(planned)
        scope = self._scope()
        if arguments.given("to-offset"):
            return self._bounded(dict.fromkeys(scope, arguments["to-offset"]))
        if arguments.given("shift-by"):
            return self._bounded(self._shifted(scope))
        if arguments["to-current"]:
            committed = self._groups.committed(self.group)
            there = {partition: committed[partition] for partition in scope if partition in committed}
            return there | self._at(LATEST_TIMESTAMP, [item for item in scope if item not in there])
        if arguments["to-earliest"] or arguments["to-latest"]:
            return self._at(EARLIEST_TIMESTAMP if arguments["to-earliest"] else LATEST_TIMESTAMP, scope)
        moment = arguments["to-datetime"]
        if moment is None:
            moment = max(0, time.time_ns() // 1_000_000 - arguments["by-duration"])
        return self._of_moment(moment, scope)

    def _scope(self) -> list[TopicPartition]:
        if self._arguments["all-topics"]:
            return sorted(self._groups.committed(self.group))
        return partitions_of_scope(self._leaders, self._arguments["topic"])

    def _shifted(self, scope: list[TopicPartition]) -> dict[TopicPartition, int]:
        committed = self._groups.committed(self.group)
        for partition in scope:
            if partition not in committed:
                raise ValueError(
                    f"Cannot shift offset for partition {partition} since there is no current committed offset"
                )
        return {partition: committed[partition] + self._arguments["shift-by"] for partition in scope}

    def _of_moment(self, moment_ms: int, scope: list[TopicPartition]) -> dict[TopicPartition, int]:
        offsets = self._at(moment_ms, scope)
        newer = [partition for partition in scope if offsets[partition] < 0]
        for topic, partition in newer:
            print(f"\nWarn: Partition {partition} from topic {topic} is empty. Falling back to latest known offset.")
        return offsets | self._at(LATEST_TIMESTAMP, newer)

    def _bounded(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        bounded, notices = within_log(wanted, self._at(EARLIEST_TIMESTAMP, wanted), self._at(LATEST_TIMESTAMP, wanted))
        for sentence in notices:
            print(f"WARN {sentence}", file=sys.stderr)
        return bounded

    def _at(self, timestamp: int, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        question = dict.fromkeys(partitions, timestamp)
        return list_offsets(self._leaders, question) if question else {}
