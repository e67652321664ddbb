"""A list that is streamed as a file ends with its person's login and rights, whoever wrote the view."""

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import logout
from django.http import StreamingHttpResponse

from console.kit.common import csv_table
from console.shell.web import streamed_files
from console.shell.web.streamed_files import StreamedFilesMiddleware, StreamEndedError
from console.state.clusters.models import Topic

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def csv(viewer, client_of, monkeypatch):
    monkeypatch.setattr(csv_table, "_ROWS_PER_CHUNK", 1)
    monkeypatch.setattr(streamed_files, "RECHECK_SECONDS", 0)
    for number in range(5):
        Topic.objects.create(name=f"topic-{number}", partition_count=1)
    return lambda: client_of(viewer).get("/topics/?format=csv")


def test_the_rest_of_a_list_is_not_sent_once_the_role_is_gone(csv, viewer):
    pieces = iter(csv().streaming_content)
    assert b"topic-0" in next(pieces) + next(pieces)
    viewer.groups.clear()
    with pytest.raises(StreamEndedError, match="rights changed"):
        next(pieces)


def test_a_list_is_whole_while_the_rights_stay(csv):
    assert b"".join(csv().streaming_content).count(b"topic-") == 5


def test_between_two_looks_no_database_is_asked(csv, monkeypatch):
    monkeypatch.setattr(streamed_files, "RECHECK_SECONDS", 3_600)
    pieces = iter(csv().streaming_content)
    next(pieces), next(pieces)
    monkeypatch.setattr(streamed_files, "refusal_now", lambda _scope: pytest.fail("looked again"))
    assert b"topic-4" in b"".join(pieces)


async def test_a_log_out_ends_a_stream_that_is_read_by_an_event_loop(viewer, client_of, rf, monkeypatch):
    monkeypatch.setattr(streamed_files, "RECHECK_SECONDS", 0)
    client = await sync_to_async(client_of)(viewer)
    request = rf.get("/")
    request.user, request.session = viewer, await sync_to_async(lambda: client.session)()

    async def body():
        yield b"first"
        yield b"second"

    response = await sync_to_async(StreamedFilesMiddleware(lambda _: StreamingHttpResponse(body())))(request)
    pieces = aiter(response.streaming_content)
    assert await anext(pieces) == b"first"
    await sync_to_async(logout)(request)
    with pytest.raises(StreamEndedError):
        await anext(pieces)
