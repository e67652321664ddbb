"""What happens in the cluster, as server-sent events: each line of the history a person may see, as it is written.

An event's id is the line's number, so that who was cut off goes on behind it (`Last-Event-ID`). A stream ends when its
token does, its person's account, or after an hour; who wants more asks again.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from asgiref.sync import sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from console.kit.access.api_tokens import is_open
from console.kit.access.log_tail import sentence_within
from console.kit.access.models import ApiToken
from console.kit.access.rights import Right, reach_of, require, restrict_to
from console.kit.common.current_cluster import bound
from console.shell.api.access import NoToken, admitted
from console.state.history.models import Change
from console.state.history.queries import changes_within

LOOK_EVERY_S = 1.0
#: A comment, so that a proxy does not take silence for the end.
SILENCE_S = 15.0
LIFE_S = 3_600.0
STREAMS_MAX, STREAMS_PER_PERSON_MAX = 100, 5
_LINES_AT_ONCE = 200


@dataclass
class _Streams:
    """How many are open, by person."""

    by_person: Counter[int] = field(default_factory=Counter)

    def take(self, person: int) -> bool:
        if self.by_person[person] >= STREAMS_PER_PERSON_MAX or self.by_person.total() >= STREAMS_MAX:
            return False
        self.by_person[person] += 1
        return True

    def give_back(self, person: int) -> None:
        self.by_person[person] -= 1


STREAMS = _Streams()


@csrf_exempt
@login_not_required
@require_safe
def events(request: HttpRequest) -> HttpResponseBase:
    from console.shell.api.router import problem

    try:
        token = admitted(request, "read")
        require(request.user, Right.VIEW)
    except NoToken as error:
        return problem(401, str(error))
    except PermissionDenied as error:
        return problem(403, str(error))
    if not STREAMS.take(token.user_id):
        return problem(429, f"At most {STREAMS_PER_PERSON_MAX} streams of a person are open at a time.")
    response = StreamingHttpResponse(_EventStream(token, _heard_last(request)), content_type="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _heard_last(request: HttpRequest) -> int:
    """Return the last event id of the program; without one it gets new events only."""
    text = request.headers.get("Last-Event-ID", "")
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    return Change.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


class _EventStream:
    """`after`: the line that was heard last."""

    def __init__(self, token: ApiToken, after: int):
        self._token, self._after, self._is_closed = token, after, False
        self._look_there = bound(self._look)

    def close(self) -> None:
        """Close the stream, also before it is read."""
        if not self._is_closed:
            self._is_closed = True
            STREAMS.give_back(self._token.user_id)

    async def __aiter__(self) -> AsyncIterator[str]:
        ends_at = time.monotonic() + LIFE_S
        told_at = time.monotonic()
        try:
            yield "retry: 2000\n\n"
            while time.monotonic() < ends_at:
                lines = await sync_to_async(self._look_there)()
                if lines is None:
                    return
                if lines:
                    yield "".join(lines)
                elif time.monotonic() - told_at > SILENCE_S:
                    yield ": still here\n\n"
                else:
                    await asyncio.sleep(LOOK_EVERY_S)
                    continue
                told_at = time.monotonic()
        finally:
            self.close()

    def _look(self) -> list[str] | None:
        """Return new events; None: the token opens nothing any more. Rights are read again each time: they may have
        changed.
        """
        if not is_open(self._token, timezone.now()):
            return None
        person = type(self._token.user).objects.get(pk=self._token.user_id)
        restrict_to(person, self._token.clusters)
        reach = reach_of(person)
        if Right.VIEW not in reach.rights_anywhere:
            return None
        changes = list(changes_within(reach).filter(pk__gt=self._after).order_by("pk")[:_LINES_AT_ONCE])
        if changes:
            self._after = changes[-1].pk
        return [_event(item, sentence_within(reach, item.sentence)) for item in changes]


def _event(change: Change, sentence: str) -> str:
    """Format a server-sent event; a line of JSON has no line end in it."""
    fields = {
        "at_ms": change.at_ms,
        "kind": change.kind,
        "object": change.object_name,
        "partition": change.partition,
        "what": sentence,
        "tone": change.tone,
    }
    return f"id: {change.pk}\nevent: {change.kind}\ndata: {json.dumps(fields)}\n\n"
