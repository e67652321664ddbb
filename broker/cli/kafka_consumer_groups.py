"""`kafka-consumer-groups`: list, describe, delete and move consumer groups.

As with Kafka's own whatever a cluster refuses is told on stdout with status 0; only a usage error has status 1.
"""

import sys

from broker.cli.frame.answers import at_least_one, exception_of
from broker.cli.frame.connecting import ADMIN, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.groups.group_listing import (
    OffsetRow,
    as_json,
    deleted_lines,
    list_lines,
    member_lines,
    offset_lines,
    offset_rows,
    share_lines,
    state_lines,
)
from broker.cli.groups.group_resets import duration_ms, moment_ms, topic_scope
from broker.cli.groups.resetting_groups import check_reset, partitions_of_scope, reset
from broker.client.cluster import ClusterConnections
from broker.client.groups import GroupClient
from broker.client.leaders import Leaders
from broker.client.log_ends import offsets_of_led
from broker.client.typed_groups import SHARE, TypedGroup
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.types import TopicPartition
from broker.protocol.messages.list_offsets import LATEST_TIMESTAMP

_ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets")
_ASPECTS = ("members", "offsets", "state")
_STATES = ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty", "Assigning", "Reconciling")
_TYPES = ("Classic", "Consumer")
_REBALANCING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")
#: Kafka's own names and sentences, which scripts look for.
_WHY_NOT_DELETED = {
    ErrorCode.NON_EMPTY_GROUP: "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.",
    ErrorCode.GROUP_ID_NOT_FOUND: (
        "org.apache.kafka.common.errors.GroupIdNotFoundException: The group id does not exist."
    ),
}
_OF_SOME_PARTITIONS = (ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def run(arguments: Arguments) -> None:
    action = next(action for action in _ACTIONS if arguments[action])
    _check(action, arguments)
    timeout_s = arguments["timeout"] / 1000
    with connected(arguments, timeout_s=timeout_s) as cluster:
        try:
            _DO[action](cluster, GroupClient(cluster, timeout_s=timeout_s), arguments)
        except (UsageError, CommandError, BrokenPipeError):
            raise
        except OSError as error:
            raise _failed(f"{error.filename}: {error.strerror}") from None
        except (BarnabasError, ValueError) as error:
            raise _failed(str(error)) from None


def _failed(reason: str) -> CommandError:
    sentence = f"\nError: Executing consumer group command failed due to {reason}"
    return CommandError(sentence, status=0, on_stdout=True)


def _check(action: str, arguments: Arguments) -> None:
    """Raises UsageError in Kafka's words."""
    has_groups = arguments["group"] or arguments["all-groups"]
    if arguments["group"] and arguments["all-groups"]:
        raise UsageError('Option "[group]" can\'t be used with option "[all-groups]"')
    if action in ("describe", "delete") and not has_groups:
        raise UsageError(f"Option [{action}] takes one of these options: [all-groups], [group]")
    if action == "describe" and sum(arguments.given(aspect) for aspect in _ASPECTS) > 1:
        raise UsageError("Option [describe] takes at most one of these options: [members], [offsets], [state]")
    if action == "delete" and arguments.given("topic"):
        raise UsageError("The consumer does not support topic-specific offset deletion from a consumer group.")
    if action == "delete-offsets" and not (arguments["group"] and arguments["topic"]):
        raise UsageError("Option [delete-offsets] takes the following options: [topic], [group]")
    if action == "reset-offsets":
        check_reset(arguments)


def _list(_cluster: ClusterConnections, groups: GroupClient, arguments: Arguments) -> None:
    states = _chosen(arguments["state"], "state", _STATES)
    types = {argument.lower() for argument in _chosen(arguments["type"], "type", _TYPES)}
    columns = tuple(name for name in ("type", "state") if arguments.given(name))
    rows = [
        # A broker before Kafka 3.7 knows one type only, and does not name it.
        {"group": state.group_id, "state": state.group_state, "type": (state.group_type or "classic").capitalize()}
        for state in groups.listed(states)
    ]
    rows = [row for row in rows if not types or row["type"].lower() in types]
    if wants_json(arguments):
        print_json(rows)
    else:
        lines = list_lines(rows, columns) if columns else [row["group"] for row in rows]
        sys.stdout.write("".join(f"{line}\n" for line in lines))


def _chosen(text: str | None, what: str, known: tuple[str, ...]) -> list[str]:
    """Return the known values of a list in any case; all of them for an empty list."""
    by_name = {name.lower(): name for name in known}
    names = [part.strip().lower() for part in (text or "").split(",") if part.strip()]
    if not all(name in by_name for name in names):
        raise UsageError(f"Invalid {what} list '{text}'. Valid {what}s are: {', '.join(known)}")
    return [by_name[name] for name in names]


def _describe(cluster: ClusterConnections, groups: GroupClient, arguments: Arguments) -> None:
    leaders = Leaders(cluster)
    documents = []
    for name in _names(groups, arguments):
        group = groups.described(name)
        if not _print_state(group):
            continue
        if wants_json(arguments):
            documents.append(as_json(group, groups.coordinator(name), _rows(leaders, groups, group)))
        else:
            print("\n".join(_described_lines(leaders, groups, group, arguments)))
            sys.stdout.flush()
    if wants_json(arguments):
        print_json(documents)


def _print_state(group: TypedGroup) -> bool:
    """Print the group's state; return whether it exists."""
    if group.state == "Dead":
        print(f"\nError: Consumer group '{group.group_id}' does not exist.")
        return False
    if group.state == "Empty":
        print(f"\nConsumer group '{group.group_id}' has no active members.", file=sys.stderr)
    elif group.state in _REBALANCING:
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=sys.stderr)
    return True


def _described_lines(leaders: Leaders, groups: GroupClient, group: TypedGroup, arguments: Arguments) -> list[str]:
    if arguments["members"]:
        return member_lines(group, verbose=arguments["verbose"])
    if arguments.given("state"):
        return state_lines(group, groups.coordinator(group.group_id), verbose=arguments["verbose"])
    if group.group_type == SHARE:
        return share_lines(group.group_id, groups.share_offsets(group.group_id))
    return offset_lines(group.group_id, _rows(leaders, groups, group))


def _rows(leaders: Leaders, groups: GroupClient, group: TypedGroup) -> list[OffsetRow]:
    """Return rows of offsets. Commits are read before log ends, so that no lag is negative."""
    if group.group_type == SHARE:
        starts = groups.share_offsets(group.group_id)
        committed = {partition: offset.start for partition, offset in starts.items()}
    else:
        committed = groups.committed(group.group_id)
    partitions = set(committed).union(*(member.assignment for member in group.members))
    log_ends = offsets_of_led(leaders, dict.fromkeys(sorted(partitions), LATEST_TIMESTAMP))
    return offset_rows(group, committed, log_ends)


def _delete(_cluster: ClusterConnections, groups: GroupClient, arguments: Arguments) -> None:
    deleted, failed = [], {}
    for name in _names(groups, arguments):
        try:
            groups.delete(name)
            deleted.append(f"'{name}'")
        except ApiError as error:
            failed[name] = _WHY_NOT_DELETED.get(error.code) or f"{exception_of(error.code)}: {error.message}"
    if wants_json(arguments):
        print_json({"deleted": [part.strip("'") for part in deleted], "failed": failed})
        return
    if arguments["zookeeper"]:
        for name in deleted:
            print(f"Deleted all consumer group information for group {name} in zookeeper.")
    elif deleted and not failed:
        print(f"Deletion of requested consumer groups ({', '.join(deleted)}) was successful.")
    if failed:
        print("\nError: Deletion of some consumer groups failed:")
        for name, reason in failed.items():
            print(f"* Group '{name}' could not be deleted due to: {reason}")
        if deleted and not arguments["zookeeper"]:
            print(f"\nThese consumer groups were deleted successfully: {', '.join(deleted)}")


def _reset(cluster: ClusterConnections, groups: GroupClient, arguments: Arguments) -> None:
    reset(groups, Leaders(cluster), arguments)


def _delete_offsets(cluster: ClusterConnections, groups: GroupClient, arguments: Arguments) -> None:
    name, topics = arguments["group"][0], arguments["topic"]
    statuses: dict[TopicPartition, str] = {}
    partitions: list[TopicPartition] = []
    failure = ErrorCode.NONE
    for scope in topics:
        try:
            partitions += partitions_of_scope(Leaders(cluster), [scope])
        except ApiError as error:
            failure = error.code
            for number in scope[1] or [-1]:
                statuses[TopicPartition(scope[0], number)] = _error(error.code, error.message)
    if partitions:
        try:
            for partition, code in groups.delete_offsets(name, partitions).items():
                statuses[partition] = _error(code, code.meaning) if code else "Successful"
                failure = code or failure
        except ApiError as error:
            failure = error.code
            statuses |= dict.fromkeys(partitions, _error(error.code, error.message))
    if wants_json(arguments):
        print_json([{**item._asdict(), "status": status} for item, status in sorted(statuses.items())])
        return
    print(_outcome(failure, name))
    print("\n".join(deleted_lines(statuses)))


def _error(code: int, message: str) -> str:
    return f"Error: {exception_of(code)}: {message}"


def _outcome(failure: ErrorCode, group: str) -> str:
    if not failure:
        return f"Request succeeded for deleting offsets from group {group}."
    if failure in _OF_SOME_PARTITIONS:
        return "\nError: Encounter some partition level error, see the follow-up details:"
    if failure == ErrorCode.GROUP_ID_NOT_FOUND:
        return "\nError: The group id does not exist."
    if failure == ErrorCode.INVALID_GROUP_ID:
        return "\nError: The group id is invalid."
    if failure == ErrorCode.NON_EMPTY_GROUP:
        return f"\nError: Deleting offsets of a consumer group '{group}' is forbidden if the group is not empty."
    return f"\nError: Encounter some unknown error: {failure.name}"


def _names(groups: GroupClient, arguments: Arguments) -> list[str]:
    if arguments["all-groups"]:
        return [group.group_id for group in groups.listed()]
    return list(dict.fromkeys(arguments["group"]))


_DO = {
    "list": _list,
    "describe": _describe,
    "delete": _delete,
    "reset-offsets": _reset,
    "delete-offsets": _delete_offsets,
}


COMMAND = Command(
    name="kafka-consumer-groups",
    summary="List all consumer groups, describe or delete a group, or move where it reads.",
    run=run,
    exactly_one_of=(_ACTIONS,),
    options=(
        *ADMIN,
        OUTPUT,
        Option("list", "List all consumer groups; with --state or --type those in some of them."),
        Option("describe", "Tell offsets and lag of a group of any type, or its --members or --state."),
        Option("delete", "Delete groups without members, with all they have committed."),
        Option("reset-offsets", "Move groups without members; only shown unless --execute is typed."),
        Option("delete-offsets", "Forget what a group has committed for --topic."),
        Option("group", "A consumer group.", "GROUP", repeatable=True),
        Option("all-groups", "All of them: for --describe, --delete and --reset-offsets."),
        Option(
            "topic",
            "Whose offsets are meant; TOPIC:0,1 are some of its partitions.",
            "TOPIC[:0,1]",
            parse=topic_scope,
            repeatable=True,
        ),
        Option("all-topics", "All topics that the group has committed for."),
        Option("members", "With --describe: the members of the group."),
        Option("offsets", "With --describe: offsets and lag, as if nothing else is typed."),
        Option(
            "state", "With --describe: state and coordinator. With --list: only these states.", "STATES", if_bare=""
        ),
        Option("type", "With --list: classic or consumer.", "TYPES", if_bare=""),
        Option("verbose", "With --members: what each is assigned. With --state: epochs, where the group has some."),
        Option("to-offset", "Move to this offset.", "N", parse=int),
        Option("to-earliest", "Move to the first record."),
        Option("to-latest", "Move behind the last record."),
        Option("to-current", "Stay: useful with --export."),
        Option("shift-by", "Move by this many records, backwards if negative.", "N", parse=int),
        Option("to-datetime", "Move to the first record from a moment on.", "YYYY-MM-DDTHH:mm:SS.sss", parse=moment_ms),
        Option("by-duration", "Move to the first record of this latest span of time.", "PnDTnHnMnS", parse=duration_ms),
        Option("from-file", "Move to where a CSV file says, as --export writes it.", "FILE"),
        Option("execute", "Do it."),
        Option("dry-run", "Only tell what would be done."),
        Option("export", "Tell the new offsets as CSV."),
        Option("timeout", "How long to wait for brokers.", "MS", parse=at_least_one, default=5000),
        Option("new-consumer", "", without_effect="all groups are of the new consumer."),
    ),
    examples=(
        Example(
            "kafka-consumer-groups --bootstrap-server localhost:9092 --describe --group billing",
            "the group's offsets, lag and members",
        ),
        Example(
            "kafka-consumer-groups --bootstrap-server localhost:9092 --group billing --topic orders "
            "--reset-offsets --to-datetime 2026-11-22T00:00:00.000 --execute",
            "read the day again",
        ),
        Example(
            "kafka-consumer-groups --bootstrap-server localhost:9092 --list --state Empty", "groups without members"
        ),
    ),
    notes=(
        "Groups of the consumer, share and streams protocols (Kafka 4) are described where the cluster serves their "
        "APIs: of a share group start offsets and records that are not acknowledged, of a streams group its tasks.",
        "A refusal by the cluster is printed to stdout, in a line that begins with Error, with status 0, as by "
        "Kafka's own command; status 1 means that it was not asked.",
    ),
)
