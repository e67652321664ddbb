"""Leader elections on request: the preferred leaders (KIP-183), or any live replica (KIP-460)."""

from broker.common.cluster import LeaderAndIsr
from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.controller.context import ControllerContext
from broker.controller.effects import ControllerEffect, RemoveElectionRequest, RespondToRequest, StepAgain, WriteStates
from broker.controller.election import preferred_state, unclean_state
from broker.controller.events import BY_ZNODE, Election, ElectionAsked, ElectionTried
from broker.controller.verdict import DONE, PartitionVerdict

#: How often an election is tried whose partition's state somebody else writes meanwhile.
_ATTEMPTS = 3


def election_asked(context: ControllerContext, event: ElectionAsked) -> list[ControllerEffect]:
    partitions = context.all_partitions() if event.partitions is None else sorted(event.partitions)
    return _try(context, event, partitions, {}, _ATTEMPTS)


def election_tried(context: ControllerContext, event: ElectionTried) -> list[ControllerEffect]:
    """Handle written states; where another writer was faster, elect again from the state that was found."""
    done = {partition: DONE for partition in event.tried if _is_as_asked(context, event.request.election, partition)}
    verdicts = event.verdicts | done
    open_ones = [partition for partition in event.tried if partition not in done]
    if open_ones and event.attempts_left:
        return _try(context, event.request, open_ones, verdicts, event.attempts_left)
    unsettled = PartitionVerdict(ErrorCode.LEADER_NOT_AVAILABLE, "the partition's state keeps changing; try again")
    verdicts |= dict.fromkeys(open_ones, unsettled)
    if event.request.request_id == BY_ZNODE:
        return [RemoveElectionRequest(verdicts)]
    return [RespondToRequest(event.request.request_id, verdicts)]


def _try(
    context: ControllerContext,
    request: ElectionAsked,
    partitions: list[TopicPartition],
    verdicts: dict[TopicPartition, PartitionVerdict],
    attempts_left: int,
) -> list[ControllerEffect]:
    wanted: dict[TopicPartition, LeaderAndIsr] = {}
    refused: dict[TopicPartition, PartitionVerdict] = {}
    for partition in partitions:
        try:
            wanted[partition] = _elect(context, request.election, partition)
        except ApiError as error:
            refused[partition] = PartitionVerdict.of(error)
    writes = [WriteStates(wanted)] if wanted else []
    tried = ElectionTried(request, tuple(wanted), verdicts | refused, attempts_left - 1)
    return [*writes, StepAgain(tried)]


def _elect(context: ControllerContext, election: Election, partition: TopicPartition) -> LeaderAndIsr:
    """Return the state to be written; ApiError when there is nothing to do or nobody to elect."""
    if not context.is_current(partition):
        is_topic_known = partition.topic in context.topics
        missing = f"partition as {partition}" if is_topic_known else f"topic as {partition.topic}"
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such {missing}")
    if _is_as_asked(context, election, partition):
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
    if election is Election.PREFERRED:
        return _elect_preferred(context, partition)
    return _elect_unclean(context, partition)


def _elect_preferred(context: ControllerContext, partition: TopicPartition) -> LeaderAndIsr:
    assignment, state = context.assignment(partition), context.states.get(partition)
    online = context.online_replicas(partition)
    full = context.full_hosts(partition)
    elected = state and preferred_state(assignment, state, online, context.controller_epoch, full)
    if elected is None:
        reason = "is not alive" if assignment[0] not in online else "is not in sync"
        if assignment[0] in online and assignment[0] in full:
            reason = "has a full log directory; free some of its disk"
        raise ApiError(
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, f"broker {assignment[0]}, preferred for {partition}, {reason}"
        )
    return elected


def _elect_unclean(context: ControllerContext, partition: TopicPartition) -> LeaderAndIsr:
    assignment, state = context.assignment(partition), context.states.get(partition)
    online, extents = context.online_replicas(partition), context.extents(partition)
    elected = state and unclean_state(assignment, state, online, context.controller_epoch, extents)
    if elected is None:
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, f"no replica of {partition} is alive")
    return elected


def _is_as_asked(context: ControllerContext, election: Election, partition: TopicPartition) -> bool:
    state = context.states.get(partition)
    if state is None or not context.is_current(partition):
        return False
    if election is Election.PREFERRED:
        return state.leader == context.assignment(partition)[0]
    return state.leader in context.online_replicas(partition)
