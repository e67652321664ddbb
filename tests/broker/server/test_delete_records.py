"""DeleteRecords over a real socket."""

import errno

from broker.common.errors import ErrorCode
from broker.log.config import LogConfig
from broker.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from broker.protocol.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
)
from tests.broker.runtime.controllers_word import tell_all
from tests.broker.server.test_bad_input import batch_of, produce

FOLLOWER = 2


def delete(offset: int, timeout_ms: int = 10_000, topic: str = "t") -> DeleteRecordsRequest:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=timeout_ms)


async def deleted(client, request: DeleteRecordsRequest) -> tuple[ErrorCode, int]:
    (topic,) = (await client.ask(request, 2)).topics
    (partition,) = topic.partitions
    return ErrorCode(partition.error_code), partition.low_watermark


async def test_the_only_replica_answers_at_once(served):
    served.lead("t")
    client = await served.client()
    for _ in range(3):
        await client.ask(produce(batch_of(b"v")), 9)
    assert await deleted(client, delete(2)) == (ErrorCode.NONE, 2)
    assert await deleted(client, delete(-1)) == (ErrorCode.NONE, 3)
    assert await deleted(client, delete(4)) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert await deleted(client, delete(0, topic="u")) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


async def test_a_partition_that_is_not_there_is_unknown_whatever_its_topic_is_for(served):
    served.tell_of("__consumer_offsets")
    client = await served.client()
    request = delete(0, topic="__consumer_offsets")
    assert await deleted(client, request) == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
    request.topics[0].partitions[0].partition_index = 7
    assert await deleted(client, request) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)


async def test_follower_that_says_nothing_lets_the_time_of_the_request_pass(served):
    endpoint = UpdateMetadataEndpoint(host="127.0.0.1", port=1, listener="PLAINTEXT")
    live = [UpdateMetadataBroker(id=broker_id, endpoints=[endpoint]) for broker_id in (1, FOLLOWER)]
    tell_all(served.metadata, UpdateMetadataRequest(controller_id=1, controller_epoch=1, live_brokers=live))
    served.lead_with_follower("t", FOLLOWER)
    client = await served.client()
    assert await deleted(client, delete(0, timeout_ms=1)) == (ErrorCode.REQUEST_TIMED_OUT, -1)


async def test_what_is_only_compacted_is_refused(served):
    served.lead("t")
    served.replicas.get("t", 0).log.config = LogConfig(cleanup_policy=("compact",))
    assert await deleted(await served.client(), delete(0)) == (ErrorCode.POLICY_VIOLATION, -1)


def noted_starts(served) -> str:
    (directory,) = served.logs.online_directories
    return (directory / "log-start-offset-checkpoint").read_text()


async def test_a_deletion_is_on_disk_before_it_is_answered(served):
    """A leader that is killed then, and leads again, does not show the records again."""
    served.lead("t")
    client = await served.client()
    for _ in range(3):
        await client.ask(produce(batch_of(b"v")), 9)
    assert await deleted(client, delete(2)) == (ErrorCode.NONE, 2)
    assert "t 0 2" in noted_starts(served)


async def test_a_deletion_that_a_full_disk_does_not_note_is_refused(served, monkeypatch):
    served.lead("t")
    client = await served.client()
    for _ in range(3):
        await client.ask(produce(batch_of(b"v")), 9)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("broker.log.offset_checkpoint.write_offset_checkpoint", full)
        assert await deleted(client, delete(2)) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    assert served.replicas.get("t", 0).log.log_start_offset == 0, "what is refused is not done"
    assert await deleted(client, delete(2)) == (ErrorCode.NONE, 2)
    assert "t 0 2" in noted_starts(served)
