"""A count that changed is drawn once for all pages that show the same, whoever has how many of them open."""

import asyncio

import pytest
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.models import User
from django.db import OperationalError

from console.kit.access.models import NameRule
from console.kit.access.rights import reach_of
from console.kit.live import groups
from console.shell.web import marks_board, page_socket
from console.shell.web.marks_board import MarksBoard
from console.shell.web.page_socket import PageConsumer
from tests.console.websocket import Websocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def drawn(monkeypatch) -> list[str]:
    """What was drawn: `shared` for a reach, `personal` for a person."""
    drawings: list[str] = []
    monkeypatch.setattr(marks_board, "shared_marks_html", lambda reach: drawings.append("shared") or "<i>shared</i>")
    monkeypatch.setattr(marks_board, "personal_marks_html", lambda user: drawings.append("personal") or "")
    return drawings


async def open_page(user: User, page: str = "overview") -> Websocket:
    websocket = Websocket(PageConsumer.as_asgi(), "/ws/live/", f"page={page}", user=user)
    assert await websocket.connect()
    return websocket


async def tell(version: int) -> None:
    await get_channel_layer().group_send(groups.on_layer(groups.MARKS), {"type": "marks.changed", "version": version})


async def test_a_thousand_open_pages_cost_one_computation(viewer, drawn):
    board, reach = MarksBoard(), await sync_to_async(reach_of)(viewer)
    texts = await asyncio.gather(*(board.html_for(viewer, reach, 7) for _ in range(1_000)))
    assert set(texts) == {"<i>shared</i>"}
    assert drawn == ["shared", "personal"]
    await board.html_for(viewer, reach, 8)
    assert drawn == ["shared", "personal"] * 2


async def test_pages_of_many_people_share_what_their_reach_has_in_common(drawn):
    people = [await sync_to_async(User.objects.create_user)(f"person-{number}") for number in range(10)]
    reaches = [await sync_to_async(reach_of)(person) for person in people]
    board = MarksBoard()
    await asyncio.gather(
        *(board.html_for(person, reach, 7) for person, reach in zip(people, reaches, strict=True) for _ in range(3))
    )
    assert (drawn.count("shared"), drawn.count("personal")) == (1, 10)


async def test_another_reach_is_drawn_by_itself(viewer, drawn):
    board, reach = MarksBoard(), await sync_to_async(reach_of)(viewer)
    await sync_to_async(NameRule.objects.create)(user=viewer, resource="group", pattern="secret*", level="nothing")
    limited = await sync_to_async(lambda: reach_of(User.objects.get(pk=viewer.pk)))()
    await asyncio.gather(board.html_for(viewer, reach, 7), board.html_for(viewer, limited, 7))
    assert drawn.count("shared") == 2


async def test_every_open_page_gets_the_counts_and_a_burst_of_messages_is_one_for_it(viewer, drawn):
    pages = [await open_page(viewer) for _ in range(5)]
    await tell(1)
    assert {await page.receive_text() for page in pages} == {"<i>shared</i>"}
    assert drawn == ["shared", "personal"]
    for page in pages:
        await page.disconnect()


async def test_counts_that_could_not_be_drawn_close_no_page_and_come_later(viewer, drawn, monkeypatch, caplog):
    monkeypatch.setattr(page_socket, "MARKS_AGAIN_SECONDS", 0.02)
    really = marks_board.shared_marks_html

    def fail_once(_reach: object) -> str:
        monkeypatch.setattr(marks_board, "shared_marks_html", really)
        raise OperationalError("database is locked")

    monkeypatch.setattr(marks_board, "shared_marks_html", fail_once)
    pages = [await open_page(viewer) for _ in range(3)]
    await tell(1)
    assert {await page.receive_text() for page in pages} == {"<i>shared</i>"}
    assert [str(record.exc_info[1]) for record in caplog.records] == ["database is locked"]
    for page in pages:
        await page.disconnect()


async def test_a_page_that_goes_takes_the_drawing_from_no_other(viewer, drawn):
    board, reach = MarksBoard(), await sync_to_async(reach_of)(viewer)
    first = asyncio.create_task(board.html_for(viewer, reach, 7))
    await asyncio.sleep(0)
    second = asyncio.create_task(board.html_for(viewer, reach, 7))
    first.cancel()
    assert await second == "<i>shared</i>"
    assert drawn == ["shared", "personal"]
