"""Only our own pages may open a websocket: a browser sends the cookies along, whichever page asks for it."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, WebSocketScope
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

WebSocketApplication = Callable[[WebSocketScope, ASGIReceiveCallable, ASGISendCallable], Awaitable[None]]


class OurPagesOnly:
    """Refuses a handshake whose Origin is neither the address it asks for (host and port) nor a trusted one."""

    def __init__(self, application: WebSocketApplication):
        self.application = application

    async def __call__(self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        headers = {name: value.decode("latin-1").lower() for name, value in scope["headers"]}
        scheme = "https" if settings.TLS_PROXY or scope.get("scheme") == "wss" else "http"
        is_ours = is_our_page(headers.get(b"origin", ""), headers.get(b"host", ""), scheme)
        await (self.application if is_ours else WebsocketDenier())(scope, receive, send)


def is_our_page(origin: str, host: str, scheme: str) -> bool:
    """Return whether the page's origin is ours; over http not where ours is https, because that could be forged on the
    way.

    Cookies know no port, so another program on the same machine is told from us by the port here.
    """
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        is_same = urlsplit(origin)[:2] == (scheme, host)
    except ValueError:
        return False
    return is_same and validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS)
