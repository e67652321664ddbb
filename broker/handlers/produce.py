"""Produce: read what the client may write, hand it to `ProduceWork`, write the response.

With acks=0 there is no response, so an error closes the connection.
"""

import sys

from broker.common.errors import ApiError, ErrorCode, error_code_of
from broker.common.limits import PRODUCE_ENTRIES_MAX
from broker.common.types import TopicPartition
from broker.handlers.handler import CloseConnectionError, RequestBudget, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceNodeEndpoint,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from broker.protocol.produced import FIRST_VERSION, Produced, encode_produced, encode_produced_by_id
from broker.protocol.schema import Message
from broker.records.batch import is_transactional
from broker.runtime.requests.context import Reply, RequestContext
from broker.runtime.requests.current_leader import addresses
from broker.runtime.requests.produce_work import Outcome, Outcomes, ProduceWork, Respond, refused_batch
from broker.security.operations import AclOperation, ResourceType
from broker.security.rights import UNLIMITED

#: From this version on topics are named by their ids.
_FIRST_VERSION_BY_ID = 13
#: An enumeration's members cost more to name than to look up.
_WRITE, _TOPIC = AclOperation.WRITE, ResourceType.TOPIC


def handle_produce(request: ProduceRequest, context: RequestContext) -> Reply:
    rights, topics = context.session.rights, request.topic_data
    respond: Respond = _respond if request.acks else _close_on_error
    if context.api_version >= _FIRST_VERSION_BY_ID:
        respond = _by_id(request, respond, context)
    # What small requests pay is counted, and a call more is most of it.
    is_plainly_allowed = rights is UNLIMITED or (
        len(topics) == 1
        and topics[0].name in rights.untold_writes
        and len(topics[0].partition_data) == 1
        and request.transactional_id is None
    )
    if not is_plainly_allowed and _is_forbidden(request, context):
        code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return respond(_all_refused(request, code, context), False, context)
    return ProduceWork(request, context, respond).begin()


def _by_id(request: ProduceRequest, respond: Respond, context: RequestContext) -> Respond:
    """Name the topics of a request that has their ids; return how to respond. Those of unknown ids have no name."""
    for topic in request.topic_data:
        topic.name = _name_of(topic, context)
    if not request.acks:
        return respond
    ids = [topic.topic_id for topic in request.topic_data]

    def respond_by_id(outcomes: Outcomes, is_plain: bool, context: RequestContext) -> Message | bytes | None:
        if is_plain:
            by_id = zip(ids, (of_topic for _, of_topic in outcomes), strict=True)
            return encode_produced_by_id(by_id)  # type: ignore[arg-type]  # all are Produced: `is_plain`
        response = _respond_in_full(outcomes, context)
        for topic, topic_id in zip(response.responses, ids, strict=True):
            topic.topic_id = topic_id
            for partition in topic.partition_responses if not topic.name else ():
                partition.error_code = ErrorCode.UNKNOWN_TOPIC_ID
                partition.error_message = ErrorCode.UNKNOWN_TOPIC_ID.meaning
        return response

    return respond_by_id


def _name_of(topic: TopicProduceData, context: RequestContext) -> str:
    """Return the name of the topic that has the id; empty if none has, or if another one of its name is hosted here."""
    replicas, topic_id = context.services.replicas, topic.topic_id
    if name := replicas.topic_names.of(topic_id):
        return name
    known = context.services.metadata.topic_of_id(topic_id)
    if known is None or any(replicas.get(known.name, data.index) for data in topic.partition_data):
        return ""
    return known.name


def _is_forbidden(request: ProduceRequest, context: RequestContext) -> bool:
    """Return whether all of it is. A batch for a topic that the client may not write is dropped, and refused when its
    turn to be appended comes.
    """
    may, by_id = context.session.rights.may, context.api_version >= _FIRST_VERSION_BY_ID
    if _is_transactional(request) and (
        request.transactional_id is None
        or not may(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    ):
        return True
    for topic in request.topic_data:
        if (topic.name or not by_id) and not may(_WRITE, _TOPIC, topic.name):
            for data in topic.partition_data:
                data.records = None
    return False


def _is_transactional(request: ProduceRequest) -> bool:
    for topic in request.topic_data:
        for data in topic.partition_data:
            if data.records is not None and is_transactional(data.records):
                return True
    return False


def _all_refused(request: ProduceRequest, code: ErrorCode, context: RequestContext) -> Outcomes:
    error = ApiError(code)
    return [
        (
            topic.name,
            [refused_batch(error, TopicPartition(topic.name, data.index), context) for data in topic.partition_data],
        )
        for topic in request.topic_data
    ]


def _respond(outcomes: Outcomes, is_plain: bool, context: RequestContext) -> Message | bytes:
    if is_plain and context.api_version >= FIRST_VERSION:
        return encode_produced(context.api_version, outcomes)  # type: ignore[arg-type]  # all are Produced: `is_plain`
    return _respond_in_full(outcomes, context)


def _respond_in_full(outcomes: Outcomes, context: RequestContext) -> ProduceResponse:
    topics = [
        TopicProduceResponse(name=name, partition_responses=[_in_full(outcome) for outcome in of_topic])
        for name, of_topic in outcomes
    ]
    response = ProduceResponse(responses=topics)
    leaders = [
        partition.current_leader.leader_id
        for topic in topics
        for partition in topic.partition_responses
        if partition.current_leader is not None
    ]
    if leaders:
        response.node_endpoints = [
            ProduceNodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
            for node in addresses(leaders, context)
        ]
    return response


def _in_full(outcome: Outcome) -> PartitionProduceResponse:
    return PartitionProduceResponse(**outcome._asdict()) if isinstance(outcome, Produced) else outcome


def _close_on_error(outcomes: Outcomes, is_plain: bool, _context: RequestContext) -> None:
    """Close the connection of an acks=0 request after a failed append, by CloseConnectionError: it has no response."""
    if is_plain:
        return
    for name, of_topic in outcomes:
        for outcome in of_topic:
            if not isinstance(outcome, Produced):
                code = error_code_of(outcome.error_code).name
                raise CloseConnectionError(f"acks=0 to {name}-{outcome.index} failed: {code}")


#: Record batches stay bytes, and are free when they are appended; how long a frame may be at all is for the connection.
_BUDGET = RequestBudget(
    sys.maxsize, PRODUCE_ENTRIES_MAX, bytes_at_once=sys.maxsize, decoded_factor=1, long_answers_from=sys.maxsize
)

#: Versions 0 to 2 are only said: older librdkafka compresses nothing for a broker without version 0 (KAFKA-18659).
HANDLER = public(ApiKey.PRODUCE, 3, 13, handle_produce, advertised_from=0, budget=_BUDGET)
