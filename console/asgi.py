"""The web process: HTTP to Django, websockets to their sockets once origin and session are checked."""

import os
import warnings

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
#: whitenoise hands out files by synchronous iterators; ours are a few kilobytes, so reading them in a thread is right.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
django_application = get_asgi_application()

from console.shell.web.cluster_path import ClusterSockets  # noqa: E402
from console.shell.web.origin import OurPagesOnly  # noqa: E402  (reads the settings)
from console.shell.web.proxy import BehindProxy  # noqa: E402
from console.shell.web.request_limits import RequestLimits  # noqa: E402
from console.shell.web.routes import websocket_urlpatterns  # noqa: E402  (needs the apps to be loaded)
from console.shell.web.unread_pages import counted_pages  # noqa: E402

application = BehindProxy(
    RequestLimits(
        ProtocolTypeRouter(
            {
                "http": counted_pages(django_application),
                "websocket": OurPagesOnly(ClusterSockets(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))),
            }
        )
    ),
    settings.TRUSTED_PROXIES,
    settings.PATH_PREFIX,
)
