"""Which partitions of a commit exist, and may be read: offsets for others are refused, one by one, and no coordinator
hears of them.

A commit of many partitions is asked of the coordinator a part at a time, each a batch of its own. Whoever is stopped in
between has committed a part, which for each of its partitions is as good as the whole.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from copy import copy
from typing import Any, Generic, TypeVar

from broker.common.errors import ErrorCode
from broker.common.limits import THINGS_IN_A_TURN
from broker.coordinator.group.offsets import commit_refused
from broker.handlers.authorization import denied_topics
from broker.handlers.coordinator_response import checked, response_of
from broker.protocol.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from broker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from broker.protocol.schema import Message
from broker.runtime.in_turns import begun, in_order, in_turns
from broker.runtime.requests.context import Reply, RequestContext
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED

#: From this version on OffsetCommit names topics by their ids.
TOPIC_IDS_VERSION = 10

Request = TypeVar("Request", OffsetCommitRequest, TxnOffsetCommitRequest)
Response = TypeVar("Response", OffsetCommitResponse, TxnOffsetCommitResponse)


class CommitWork(Generic[Request, Response]):
    """One request. `begin` returns its reply.

    `commit` asks the coordinator. It is given the partitions there are; the others are refused with
    UNKNOWN_TOPIC_OR_PARTITION, and those that the client may not read with TOPIC_AUTHORIZATION_FAILED, whether there
    are any or not.
    """

    __slots__ = ("_commit", "_context", "_request", "_response")

    def __init__(
        self,
        request: Request,
        response: type[Response],
        context: RequestContext,
        commit: Callable[[Request], Message | Awaitable[Message]],
    ):
        self._request: Request = request
        self._response: type[Response] = response
        self._context = context
        self._commit: Callable[[Request], Message | Awaitable[Message]] = commit

    def begin(self) -> Reply:
        """Commit what is little at once; of what is not, or partly forbidden, a part in each turn."""
        if self._are_named() and self._is_short() and self._may_read_all():
            return self._commit_part(self._request)
        return in_order(self._commit_in_turns)

    def _are_named(self) -> bool:
        """Name the topics that the client names by their ids; return False if some of these are unknown."""
        if isinstance(self._request, OffsetCommitRequest) and self._context.api_version >= TOPIC_IDS_VERSION:
            topic_of_id = self._context.services.metadata.topic_of_id
            for topic in self._request.topics:
                topic.name = known.name if (known := topic_of_id(topic.topic_id)) is not None else ""
            return all(topic.name for topic in self._request.topics)
        return True

    def _is_short(self) -> bool:
        return sum([len(topic.partitions) for topic in self._request.topics]) <= THINGS_IN_A_TURN

    def _may_read_all(self) -> bool:
        """Return whether the client may read all topics; False, too, when they are too many to be checked at once."""
        rights, topics = self._context.session.rights, self._request.topics
        return rights is UNLIMITED or (
            len(topics) <= THINGS_IN_A_TURN
            and all(rights.sees(AclOperation.READ, ResourceType.TOPIC, topic.name) for topic in topics)
        )

    async def _commit_in_turns(self, done: Callable[[], None]) -> Response:
        request, turns = self._request, self._context.services.turns
        unknown = _without_topics(request)
        if self._context.api_version >= TOPIC_IDS_VERSION:
            unknown.topics = [topic for topic in request.topics if not topic.name]
            request.topics = [topic for topic in request.topics if topic.name]
        names = [topic.name for topic in request.topics]
        denied = await denied_topics(AclOperation.READ, names, self._context)
        replies = await in_turns(
            _parts_of(request, denied),
            lambda part: (begun(self._commit_part(part)),),
            turns,
            size_of=lambda _: THINGS_IN_A_TURN,
        )
        done()
        responses: list[Response] = [self._refuse(unknown, ErrorCode.UNKNOWN_TOPIC_ID)]
        responses += [await response_of(reply, self._response) for (reply,) in replies]
        if denied:
            forbidden = _without_topics(request)
            forbidden.topics = [topic for topic in request.topics if topic.name in denied]
            responses.append(self._refuse(forbidden, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
        return _merged(responses)

    def _commit_part(self, part: Request) -> Message | Awaitable[Message]:
        partition_of = self._context.services.metadata.partition_of
        if all(partition_of(t.name, p.partition_index) for t in part.topics for p in t.partitions):
            commit = self._commit
            return commit(part)
        unknown = self._refuse(self._those_known(part, False), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        known = self._those_known(part, True)
        return self._with_refused(self._commit(known), unknown) if known.topics else unknown

    def _those_known(self, part: Request, are_known: bool) -> Request:
        """Return a request for those of the partitions that there are, or that there are not."""
        partition_of = self._context.services.metadata.partition_of
        meant = _without_topics(part)
        for topic in part.topics:
            partitions = [p for p in topic.partitions if bool(partition_of(topic.name, p.partition_index)) == are_known]
            if partitions:
                meant.topics.append(_part_of(topic, partitions))
        return meant

    async def _with_refused(self, reply: Message | Awaitable[Message], refused: Response) -> Response:
        return _merged([await response_of(reply, self._response), refused])

    def _refuse(self, part: Request, code: ErrorCode) -> Response:
        return checked(commit_refused(part, code), self._response)


def _parts_of(request: Request, denied: Collection[str]) -> Iterator[Request]:
    """Yield requests of a turn's partitions each; a topic counts as one even without any."""
    part, size = _without_topics(request), 0
    for topic in request.topics:
        if topic.name in denied:
            continue
        for at in range(0, max(1, len(topic.partitions)), THINGS_IN_A_TURN):
            piece = _part_of(topic, topic.partitions[at : at + THINGS_IN_A_TURN])
            piece_size = max(1, len(piece.partitions))
            if size + piece_size > THINGS_IN_A_TURN:
                yield part
                part, size = _without_topics(request), 0
            part.topics.append(piece)
            size += piece_size
    if part.topics:
        yield part


def _part_of(topic: Any, partitions: Sequence[Any]) -> Any:
    part = copy(topic)
    part.partitions = list(partitions)
    return part


def _without_topics(request: Request) -> Request:
    part = copy(request)
    part.topics = []
    return part


def _merged(responses: Sequence[Response]) -> Response:
    """Return one response of all, with each topic once."""
    merged = type(responses[0])()
    places: dict[object, int] = {}
    for response in responses:
        for topic in response.topics:
            place = topic.name or getattr(topic, "topic_id", "")
            if place in places:
                merged.topics[places[place]].partitions += topic.partitions
            else:
                places[place] = len(merged.topics)
                merged.topics.append(topic)
    return merged
