"""`kafka-reassign-partitions`: move replicas to other brokers and log directories, watch, throttle and call it off."""

import io
import random
from collections.abc import Iterable, Sequence, Sized
from contextlib import redirect_stdout
from typing import Any

from broker.cli.frame.answers import int64
from broker.cli.frame.connecting import COMMAND_CONFIG, ZOOKEEPER, connected
from broker.cli.frame.declaration import Arguments, Command, CommandError, Example, Option, UsageError
from broker.cli.frame.json_files import entries, read_json
from broker.cli.frame.output import OUTPUT, print_json, wants_json
from broker.cli.placement.log_dir_moves import begin_all_moves, begin_moves, where_replicas_lie
from broker.cli.placement.reassigning import alter, assignments, moves_in_progress
from broker.cli.placement.reassignment import (
    FOLLOWER_RATE,
    LEADER_RATE,
    LOG_DIRS_RATE,
    ReassignmentPlan,
    as_plan,
    parse_plan,
    plan_json,
    propose,
    replica_throttles,
)
from broker.cli.placement.reassignment_states import ReassignmentLine, listed, log_dir_lines, partition_lines
from broker.cli.placement.throttling import clear_brokers, clear_topics, throttle_brokers, throttle_topics
from broker.client.cluster import ClusterConnections
from broker.common.errors import ApiError, BarnabasError, ErrorCode
from broker.common.replica_assignment import ReplicaAssignment
from broker.common.types import TopicPartition

_ACTIONS = ("generate", "execute", "verify", "cancel", "list")
_UNLIMITED = -1
_RUNNING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a "
    "new partition assignment in addition to the existing one. The --additional option can also be used to change the "
    "throttle by resubmitting the current reassignment."
)


def run(arguments: Arguments) -> None:
    action = next(action for action in _ACTIONS if arguments[action])
    for missing in _NEEDS[action]:
        if not arguments[missing]:
            raise UsageError(f'Missing required argument "[{missing}]"')
    try:
        with connected(arguments) as cluster:
            if wants_json(arguments):
                with redirect_stdout(io.StringIO()):
                    done = _DO[action](cluster, arguments)
                print_json(done)
            else:
                _DO[action](cluster, arguments)
    except UsageError:
        raise
    except BarnabasError as error:
        raise CommandError(f"Error: {error}", on_stdout=True) from None


def _generate(cluster: ClusterConnections, arguments: Arguments) -> Any:
    path = arguments["topics-to-move-json-file"]
    topics = [entry["topic"] for entry in entries(path, read_json(path), "topics", topic=str)]
    _refuse_twice("List of topics to reassign", topics)
    brokers = arguments["broker-list"]
    _refuse_twice("Broker list", brokers)
    current = assignments(cluster, topics)
    racks = _racks(cluster, brokers, aware=not arguments["disable-rack-aware"])
    starts = [(random.randrange(len(racks)), random.randrange(len(racks))) for _ in set(topics)]
    proposed = propose(current, racks, starts)
    print(f"Current partition replica assignment\n{plan_json(current)}\n")
    print(f"Proposed partition reassignment configuration\n{plan_json(proposed)}")
    return {"current": as_plan(current), "proposed": as_plan(proposed)}


def _execute(cluster: ClusterConnections, arguments: Arguments) -> Any:
    plan = _plan(arguments)
    _refuse_unknown_brokers(cluster, plan)
    current, moves = assignments(cluster, plan.topics), moves_in_progress(cluster)
    absent = [partition for partition in plan.targets if partition not in current]
    if absent:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition: {_named(absent)}")
    if moves and not arguments["additional"]:
        raise CommandError(_RUNNING)
    # What a broker does not serve is known before anything has begun.
    begun = begin_moves(cluster, plan.log_dirs)
    replaced = {partition: current[partition] for partition in plan.targets}
    print(f"Current partition replica assignment\n\n{plan_json(replaced)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    _throttle(cluster, arguments, plan, current, moves)
    _begin(cluster, arguments, plan)
    if plan.log_dirs:
        begun = begin_all_moves(cluster, plan.log_dirs, begun, arguments["timeout"])
        _print_log_dirs("Successfully started log directory move", plan.log_dirs.keys() & begun)
        if len(begun) < len(plan.log_dirs):
            late = ",".join(f"{partition}-{broker}" for partition, broker in sorted(plan.log_dirs.keys() - begun))
            raise CommandError(f"Timed out before log directory move could be started for: {late}")
    return {"before": as_plan(replaced), "started": sorted(map(str, plan.targets))}


def _throttle(
    cluster: ClusterConnections,
    arguments: Arguments,
    plan: ReassignmentPlan,
    current: dict[TopicPartition, tuple[int, ...]],
    moves: dict[TopicPartition, ReplicaAssignment],
) -> None:
    rate, log_dirs_rate = arguments["throttle"], arguments["replica-alter-log-dirs-throttle"]
    if rate < 0 and log_dirs_rate < 0:
        return
    print(
        "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is "
        "removed."
    )
    if rate >= 0:
        topics, brokers = replica_throttles(plan.targets, current, moves)
        throttle_topics(cluster, topics)
        throttle_brokers(cluster, brokers, {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)})
        print(f"The inter-broker throttle limit was set to {rate} B/s")
    if log_dirs_rate >= 0:
        throttle_brokers(cluster, {broker for _, broker in plan.log_dirs}, {LOG_DIRS_RATE: str(log_dirs_rate)})
        print(f"The replica-alter-dir throttle limit was set to {log_dirs_rate} B/s")


def _begin(cluster: ClusterConnections, arguments: Arguments, plan: ReassignmentPlan) -> None:
    refused = alter(cluster, plan.targets)
    if refused:
        sentences = "\n".join(f"{partition}: {sentence}" for partition, (_, sentence) in sorted(refused.items()))
        raise CommandError(f"Error reassigning partition(s):\n{sentences}")
    if arguments["zookeeper"]:
        print("Successfully started reassignment of partitions.")
    else:
        print(f"Successfully started partition reassignment{_s(plan.targets)} for {_named(plan.targets)}")


def _verify(cluster: ClusterConnections, arguments: Arguments) -> Any:
    plan, as_before = _plan(arguments), bool(arguments["zookeeper"])
    known = _topics(cluster)
    current, moves = (
        assignments(cluster, [topic for topic in plan.topics if topic in known]),
        moves_in_progress(cluster),
    )
    partitions = partition_lines(plan.targets, current, moves, as_before=as_before)
    locations = where_replicas_lie(cluster, plan.log_dirs)
    replicas = log_dir_lines(plan.log_dirs, locations)
    is_over = not any(partition.is_active for partition in (*partitions, *replicas))
    print("Status of partition reassignment:")
    for line in (*partitions, *replicas):
        print(line.sentence)
    if is_over and not arguments["preserve-throttles"]:
        _clear(cluster, arguments, [topic for topic in plan.topics if topic in known])
    return {"partitions": _as_json(partitions), "replicas": _as_json(replicas), "isOver": is_over}


def _cancel(cluster: ClusterConnections, arguments: Arguments) -> Any:
    plan, moves = _plan(arguments), moves_in_progress(cluster)
    active = sorted(partition for partition in plan.targets if partition in moves)
    refused = alter(cluster, dict.fromkeys(active)) if active else {}
    refused = {item: why for item, why in refused.items() if why[0] != ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
    if refused:
        sentences = "\n".join(f"{partition}: {sentence}" for partition, (_, sentence) in sorted(refused.items()))
        raise CommandError(f"Error cancelling partition reassignment{_s(refused)} for:\n{sentences}")
    if active:
        print(f"Successfully cancelled partition reassignment{_s(active)} for: {_named(active)}")
    else:
        print("None of the specified partition reassignments are active.")
    lies = where_replicas_lie(cluster, plan.log_dirs)
    copied = {replica: item.current for replica, item in lies.items() if item.future and item.current}
    if copied:
        begin_moves(cluster, copied)
        _print_log_dirs("Successfully cancelled log directory move", copied)
    else:
        print("None of the specified partition moves are active.")
    if not arguments["preserve-throttles"]:
        _clear(cluster, arguments, [topic for topic in plan.topics if topic in _topics(cluster)])
    return {"cancelled": list(map(str, active)), "log_dirs": [f"{partition}-{at}" for partition, at in sorted(copied)]}


def _list(cluster: ClusterConnections, _arguments: Arguments) -> Any:
    moves = moves_in_progress(cluster)
    print("\n".join(listed(moves)))
    return [
        {
            "topic": topic,
            "partition": index,
            "replicas": move.replicas,
            "adding": move.adding,
            "removing": move.removing,
        }
        for (topic, index), move in sorted(moves.items())
    ]


def _clear(cluster: ClusterConnections, arguments: Arguments, topics: Sequence[str]) -> None:
    """Clear throttles of all live brokers and of the plan's topics, as Kafka does."""
    brokers = sorted(cluster.brokers())
    clear_brokers(cluster, brokers)
    clear_topics(cluster, topics)
    if arguments["zookeeper"]:
        print("Throttle was removed.")
        return
    print(f"\nClearing broker-level throttles on broker{_s(brokers)} {','.join(map(str, brokers))}")
    if topics:
        print(f"Clearing topic-level throttles on topic{_s(topics)} {','.join(topics)}")


def _plan(arguments: Arguments) -> ReassignmentPlan:
    path = arguments["reassignment-json-file"]
    return parse_plan(entries(path, read_json(path), "partitions", topic=str, partition=int, replicas=list))


def _topics(cluster: ClusterConnections) -> set[str]:
    return {topic.name for topic in cluster.describe_topics(None).topics if topic.name}


def _racks(cluster: ClusterConnections, brokers: Sequence[int], *, aware: bool) -> dict[int, str | None]:
    """Return the racks of the chosen brokers. Raises CommandError: one is unknown, or some have a rack and others
    none.
    """
    alive = {broker.node_id: broker.rack for broker in cluster.describe_topics([]).brokers}
    for broker in brokers:
        if broker not in alive:
            raise CommandError(f"Unknown broker id {broker}")
    racks = {broker: alive[broker] if aware else None for broker in brokers}
    if any(racks.values()) and not all(racks.values()):
        raise CommandError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    return racks


def _refuse_unknown_brokers(cluster: ClusterConnections, plan: ReassignmentPlan) -> None:
    unknown = sorted(plan.brokers - cluster.brokers().keys())
    if unknown:
        raise CommandError(f"Unknown broker id {unknown[0]}")


def _refuse_twice(what: str, listed_: Sequence[object]) -> None:
    twice = list(dict.fromkeys(value for value in listed_ if listed_.count(value) > 1))
    if twice:
        raise CommandError(f"{what} contains duplicate entries: {','.join(map(str, twice))}")


def _print_log_dirs(what: str, replicas: Iterable[tuple[TopicPartition, int]]) -> None:
    named = [f"{partition}-{broker}" for partition, broker in sorted(replicas)]
    if named:
        print(f"{what}{_s(named)} for: {','.join(named)}")


def _as_json(lines: list[ReassignmentLine]) -> list[dict[str, object]]:
    return [
        {"subject": line.subject, "done": line.is_done, "active": line.is_active, "sentence": line.sentence}
        for line in lines
    ]


def _named(partitions: Iterable[TopicPartition]) -> str:
    return ",".join(map(str, sorted(partitions)))


def _s(several: Sized) -> str:
    return "" if len(several) == 1 else "s"


def _brokers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError("write broker ids as 1,2,3") from None


_DO = {"generate": _generate, "execute": _execute, "verify": _verify, "cancel": _cancel, "list": _list}
_NEEDS: dict[str, tuple[str, ...]] = {
    "generate": ("topics-to-move-json-file", "broker-list"),
    "execute": ("reassignment-json-file",),
    "verify": ("reassignment-json-file",),
    "cancel": ("reassignment-json-file",),
    "list": (),
}


COMMAND = Command(
    name="kafka-reassign-partitions",
    summary="Move replicas of partitions to other brokers or log directories.",
    run=run,
    exactly_one_of=(_ACTIONS,),
    options=(
        Option(
            "bootstrap-server",
            "Some brokers of the cluster, through which the others are found.",
            "HOST:PORT,…",
            older=("bootstrap-servers",),
        ),
        ZOOKEEPER,
        COMMAND_CONFIG,
        OUTPUT,
        Option("generate", "Propose where the replicas of topics could lie; nothing is changed."),
        Option("execute", "Begin to move replicas as a plan says."),
        Option("verify", "Show a plan's progress, and remove its throttles when it is complete."),
        Option("cancel", "Call a plan off: what has not moved yet stays."),
        Option("list", "List the partitions that are being moved."),
        Option("topics-to-move-json-file", 'For --generate: {"topics":[{"topic":"foo"}],"version":1}.', "FILE"),
        Option("broker-list", "For --generate: the brokers to lie on.", "1,2,3", parse=_brokers),
        Option(
            "reassignment-json-file",
            'The plan: {"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}; "log_dirs" beside '
            'the replicas names a directory for each, or "any".',
            "FILE",
        ),
        Option("throttle", "Bytes per second between brokers; -1 is no limit.", "B/S", parse=int64, default=_UNLIMITED),
        Option(
            "replica-alter-log-dirs-throttle",
            "Bytes per second between log directories of a broker; -1 is no limit.",
            "B/S",
            parse=int64,
            default=_UNLIMITED,
        ),
        Option(
            "timeout", "How long moves between log directories may take to begin.", "MS", parse=int64, default=10_000
        ),
        Option("disable-rack-aware", "For --generate: as if no broker named its rack."),
        Option("additional", "Begin although other moves go on, or set another throttle for those."),
        Option("preserve-throttles", "With --verify and --cancel: leave throttles as they are."),
    ),
    examples=(
        Example(
            "kafka-reassign-partitions --bootstrap-server localhost:9092 --generate "
            "--topics-to-move-json-file topics.json --broker-list 1,2,3",
            "propose a plan; its last line is what --execute takes",
        ),
        Example(
            "kafka-reassign-partitions --bootstrap-server localhost:9092 --execute "
            "--reassignment-json-file plan.json --throttle 10000000",
            "move at most 10 MB a second between two brokers",
        ),
        Example(
            "kafka-reassign-partitions --bootstrap-server localhost:9092 --verify --reassignment-json-file plan.json",
            "is it done? then the throttle goes",
        ),
    ),
)
