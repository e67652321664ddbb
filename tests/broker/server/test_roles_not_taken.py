"""A want of descriptors or room keeps a broker from a role: refused as what passes, and taken when it is told again."""

import errno
import os

import pytest

from broker.common.errors import ErrorCode
from broker.common.types import TopicPartition
from broker.log import files
from broker.log.leader_epoch_file import LEADER_EPOCH_CHECKPOINT
from tests.broker.server.test_bad_input import batch_of, produce
from tests.broker.server.test_slow_disk import leading

T0 = TopicPartition("t", 0)
WANTS = (errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT)


@pytest.fixture
def want(monkeypatch):
    """While `want.errno` is set, no file can be opened."""

    class Want:
        errno = None

        def open(self, path, *arguments, **more):
            if self.errno is not None:
                raise OSError(self.errno, os.strerror(self.errno), str(path))
            return opened(path, *arguments, **more)

    want, opened = Want(), os.open
    monkeypatch.setattr(files.os, "open", want.open)
    yield want
    want.errno = None


async def error_of(controller, request):
    return (await controller.ask(request, 7)).topics[0].partition_errors[0].error_code


async def produced(client):
    return (await client.ask(produce(batch_of(b"x")), 9)).responses[0].partition_responses[0].error_code


@pytest.mark.parametrize("number", WANTS)
async def test_a_log_that_cannot_be_made_for_a_passing_want_is_made_when_told_again(served, want, number):
    controller, client = await served.member(), await served.client()
    want.errno = number
    assert await error_of(controller, leading("t", 1)) == ErrorCode.REPLICA_NOT_AVAILABLE
    assert not served.logs.offline_directories
    assert await produced(client) == ErrorCode.NOT_LEADER_OR_FOLLOWER, "clients look for another leader"
    want.errno = None
    assert await error_of(controller, leading("t", 1)) == ErrorCode.NONE
    assert await produced(client) == ErrorCode.NONE


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
async def test_a_leader_whose_epoch_cannot_be_noted_leads_when_told_again(served, want, number):
    controller, client = await served.member(), await served.client()
    assert await error_of(controller, leading("t", 1)) == ErrorCode.NONE
    assert await produced(client) == ErrorCode.NONE
    next_epoch = leading("t", 1)
    next_epoch.topic_states[0].partition_states[0].leader_epoch = 1
    want.errno = number
    assert await error_of(controller, next_epoch) == ErrorCode.REPLICA_NOT_AVAILABLE
    assert await produced(client) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    want.errno = None
    assert await error_of(controller, next_epoch) == ErrorCode.NONE
    assert await produced(client) == ErrorCode.NONE
    assert served.logs.get(T0).log_end_offset == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
async def test_a_leader_on_a_full_disk_serves_reads_and_writes_under_an_epoch_that_is_in_the_file(served, want, number):
    controller, client = await served.member(), await served.client()
    assert await error_of(controller, leading("t", 1)) == ErrorCode.NONE
    assert await produced(client) == ErrorCode.NONE
    next_epoch = leading("t", 1)
    next_epoch.topic_states[0].partition_states[0].leader_epoch = 1
    want.errno = number
    assert await error_of(controller, next_epoch) == ErrorCode.NONE
    assert served.replicas.read(T0, 0, 1_000, at_least_one=True).slice.length
    epochs = served.logs.get(T0).directory / LEADER_EPOCH_CHECKPOINT
    for _ in range(2):
        assert await produced(client) == ErrorCode.KAFKA_STORAGE_ERROR
        assert "1 1" not in epochs.read_text().splitlines()
    want.errno = None
    assert await produced(client) == ErrorCode.NONE
    assert "1 1" in epochs.read_text().splitlines()
    assert served.logs.get(T0).log_end_offset == 2


async def test_the_answer_says_which_roles_are_in_a_log_directory_that_is_full(served):
    controller = await served.member()
    served.logs.rooms[served.logs.online_directories[0]].refused(0)
    [topic] = (await controller.ask(leading("t", 2), 7)).topics
    assert [(error.error_code, error.is_full) for error in topic.partition_errors] == [(ErrorCode.NONE, True)] * 2


async def test_what_nobody_foresaw_leaves_no_role_either(served, monkeypatch):
    controller, client = await served.member(), await served.client()
    assert await error_of(controller, leading("t", 1)) == ErrorCode.NONE

    def check(*_arguments):
        raise RuntimeError("a defect")

    next_epoch = leading("t", 1)
    next_epoch.topic_states[0].partition_states[0].leader_epoch = 1
    with monkeypatch.context() as defect:
        defect.setattr(served.replicas.logs, "check", check)
        assert await error_of(controller, next_epoch) == ErrorCode.UNKNOWN_SERVER_ERROR
    assert await produced(client) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert await error_of(controller, next_epoch) == ErrorCode.NONE
    assert await produced(client) == ErrorCode.NONE
