"""Produce: append batches, answer per partition; with acks=0 there is nobody to answer, so an error closes."""

from broker.common.errors import ApiError, ErrorCode
from broker.common.types import TopicPartition
from broker.handlers.handler import CloseConnectionError, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from broker.runtime.topic_admin import INTERNAL_TOPICS

_ACKS = (-1, 0, 1)


def handle_produce(request: ProduceRequest, context: RequestContext) -> ProduceResponse | None:
    responses = [
        TopicProduceResponse(
            name=topic.name,
            partition_responses=[_append(request, topic.name, data, context) for data in topic.partition_data],
        )
        for topic in request.topic_data
    ]
    if request.acks == 0:
        _close_on_error(responses)
        return None
    return ProduceResponse(responses=responses)


def _append(
    request: ProduceRequest, topic: str, data: PartitionProduceData, context: RequestContext
) -> PartitionProduceResponse:
    try:
        if request.acks not in _ACKS:
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if request.transactional_id is not None:
            raise ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "transactions are not served yet")
        if topic in INTERNAL_TOPICS:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is internal; only brokers write to it")
        if data.records is None:
            raise ApiError(ErrorCode.INVALID_RECORD, "the request holds no record batch for the partition")
        result = context.services.replicas.append(TopicPartition(topic, data.index), data.records)
    except ApiError as error:
        return PartitionProduceResponse(
            index=data.index, error_code=error.code, base_offset=-1, error_message=error.message
        )
    return PartitionProduceResponse(
        index=data.index, base_offset=result.base_offset, log_start_offset=result.log_start_offset
    )


def _close_on_error(responses: list[TopicProduceResponse]) -> None:
    for topic in responses:
        for partition in topic.partition_responses:
            if partition.error_code:
                name = ErrorCode(partition.error_code).name
                raise CloseConnectionError(f"acks=0 to {topic.name}-{partition.index} failed: {name}")


HANDLER = public(ApiKey.PRODUCE, 3, 11, handle_produce, advertised_from=0)
