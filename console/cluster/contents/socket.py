"""Counting what a topic holds, over a websocket of its own: how far it is, until it is over and kept.

`/ws/contents/?topic=<name>&mode=contents&count=…&since=…`; what is sent and answered is as in `records/socket.py`. Who
closes it before calls it off: nothing is kept then.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from channels.db import database_sync_to_async
from django.http import QueryDict
from django.template.loader import render_to_string

from console.cluster.contents.reader import ContentsReader, CountedTurn
from console.cluster.contents.store import keep
from console.cluster.contents.window import ProfileWindow
from console.cluster.records.masked_source import hidden_from
from console.cluster.records.masking import MaskPath
from console.cluster.records.query import RecordQuery
from console.cluster.records.socket import RecordsConsumer
from console.cluster.records.turns import ReadTurn, TurnReader
from console.state.clusters.models import Topic

OTHER_RULES = "What is hidden of these records was changed meanwhile: nothing was kept. Read again."


class ContentsConsumer(RecordsConsumer):
    readers: ClassVar[dict[str, Callable[..., TurnReader]]] = {"contents": ContentsReader}
    window: ProfileWindow
    hidden: Sequence[MaskPath]

    async def play(self, reader_of: Callable[..., TurnReader], topic: Topic, query: RecordQuery) -> None:
        self.window = ProfileWindow.parse(QueryDict(self.scope["query_string"]))
        self.hidden = await database_sync_to_async(hidden_from)(self.scope["user"], topic.name)
        await super().play(partial(reader_of, window=self.window), topic, query)

    async def show(self, topic: Topic, query: RecordQuery, turn: ReadTurn) -> None:
        await self.room()
        if isinstance(turn, CountedTurn) and turn.profile is not None:
            if await database_sync_to_async(hidden_from)(self.scope["user"], topic.name) != self.hidden:
                await self.say(error=OTHER_RULES, ended="not kept")
                return
            arguments = self.scope["user"], topic, self.hidden, str(self.window), turn.ended, turn.profile
            await database_sync_to_async(keep)(*arguments)
        status = await self.in_thread(render_to_string, "contents/partials/progress.html", {"turn": turn})
        await self.say(status=status, ended=turn.ended)
