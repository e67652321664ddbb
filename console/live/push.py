"""Render a partial once and send it to everybody who is looking, or not at all if nobody is.

For synchronous code: views, Celery tasks, collector. A partial's outermost elements carry an id; htmx swaps each for
the element of the same id on the page (hx-swap-oob) and ignores those the page does not have. One partial holds rows
(`<tr>`) or other elements, never both.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.template.loader import render_to_string

from console.common.databases import on_cluster_commit
from console.live import groups
from console.live.audience import listened

logger = logging.getLogger(__name__)

#: The group it is for, the template, and the context that is rendered with.
Partial = tuple[str, str, dict[str, object]]


def push_partial(group: str, template: str, context: dict[str, object]) -> None:
    """Render `template` and send it to `group` when the transaction commits (at once outside of one).

    Whether anybody listens is asked then, not before: who begins to listen meanwhile may have drawn what was.
    Never raises because of the channel layer: a page that misses a push catches up when it reconnects.
    """
    push_partials([(group, template, context)])


def push_partials(partials: Sequence[Partial]) -> None:
    """The same of several, in their order; who listens is asked once."""
    on_cluster_commit(lambda: _push(partials))


def _push(partials: Sequence[Partial]) -> None:
    heard = listened({group for group, _, _ in partials})
    send_now([(group, render_to_string(template, context)) for group, template, context in partials if group in heard])


def send_now(messages: Iterable[tuple[str, str]]) -> None:
    """Send rendered (group, html) pairs, each as a message of its own: a browser parses `<tr>` only among `<tr>`."""
    by_group: dict[str, list[str]] = {}
    for group, html in messages:
        by_group.setdefault(group, []).append(html)
    if not by_group:
        return
    try:
        async_to_sync(_send_all)(by_group)
    except Exception as error:
        logger.warning("push failed: %s", error)


def resync_html(version: object) -> str:
    """What tells a page to fetch itself again, if it has not been told with this version already."""
    return render_to_string("live/resync.html", {"version": version})


def send_message(group: str, message: dict[str, object]) -> None:
    """Send one message of any type; never raises because of the channel layer."""
    try:
        async_to_sync(get_channel_layer().group_send)(groups.on_layer(group), message)
    except Exception as error:
        logger.warning("push failed: %s", error)


async def _send_all(by_group: dict[str, list[str]]) -> None:
    await asyncio.gather(*(_send_in_order(group, parts) for group, parts in by_group.items()))


async def _send_in_order(group: str, parts: list[str]) -> None:
    layer = get_channel_layer()
    for html in parts:
        await layer.group_send(groups.on_layer(group), {"type": "push.html", "group": group, "html": html})
