"""Render a partial once and send it to everybody who is looking, or not at all if nobody is.

For synchronous code: views, Celery tasks, collector. A partial's outermost elements carry an id; htmx swaps each for
the element of the same id on the page (hx-swap-oob) and ignores those the page does not have. One partial holds rows
(`<tr>`) or other elements, never both.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

import redis
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.template.loader import render_to_string

from console.kit.common.databases import on_cluster_commit
from console.kit.live import groups
from console.kit.live.audience import answers, channel_of, listened, redis_of_layer

logger = logging.getLogger(__name__)

#: The group it is for, the template, and the context that is rendered with.
Partial = tuple[str, str, dict[str, object]]
Message = Mapping[str, object]


class PushedHtml(TypedDict):
    """Rendered HTML for the pages that listen to `group`, as the channel layer carries it."""

    type: Literal["push.html"]
    group: str
    html: str


def push_partial(group: str, template: str, context: dict[str, object]) -> None:
    """Render `template` and send it to `group` when the transaction commits (at once outside of one).

    Whether anybody listens is asked then, not before: who begins to listen meanwhile may have drawn what was.
    Never raises because of the channel layer: a page that misses a push catches up when it reconnects.
    """
    push_partials([(group, template, context)])


def push_partials(partials: Sequence[Partial]) -> None:
    """Push several partials, in their order; the layer is asked once for listeners."""
    on_cluster_commit(lambda: _push(partials))


def _push(partials: Sequence[Partial]) -> None:
    heard = listened({group for group, _, _ in partials})
    send_now([(group, render_to_string(template, context)) for group, template, context in partials if group in heard])


def send_now(messages: Iterable[tuple[str, str]]) -> None:
    """Send rendered (group, html) pairs, each as a message of its own: a browser parses `<tr>` only among `<tr>`."""
    _send([(group, PushedHtml(type="push.html", group=group, html=html)) for group, html in messages])


def resync_html(version: object) -> str:
    """Return the fragment that makes a page refetch itself, once for each version."""
    return render_to_string("live/resync.html", {"version": version})


def send_message(group: str, message: Message) -> None:
    """Send one message of any type; never raises because of the channel layer."""
    _send([(group, message)])


def _send(messages: Sequence[tuple[str, Message]]) -> None:
    """Send messages in their order, directly to Redis: the layer would make a loop, and in it a connection, for each
    call.
    """
    if not messages:
        return
    try:
        client = redis_of_layer()
        if client is None:
            async_to_sync(_send_by_layer)(messages)
        else:
            _publish(client, messages)
    except Exception as error:
        logger.warning("push failed: %s", error)


def _publish(client: redis.Redis, messages: Sequence[tuple[str, Message]]) -> None:
    serialize = get_channel_layer().serialize
    answers(client, [("PUBLISH", channel_of(group), serialize(message)) for group, message in messages])


async def _send_by_layer(messages: Sequence[tuple[str, Message]]) -> None:
    layer = get_channel_layer()
    for group, message in messages:
        await layer.group_send(groups.on_layer(group), message)
