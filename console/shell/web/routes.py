"""The websocket addresses: one for what pages show, one for reading a topic, one for counting what it holds."""

from django.conf import settings
from django.urls import path

from console.cluster.contents.socket import ContentsConsumer
from console.cluster.records.socket import RecordsConsumer
from console.shell.web.page_socket import PageConsumer

websocket_urlpatterns = [
    path(f"{settings.PATH_PREFIX}ws/live/", PageConsumer.as_asgi()),
    path(f"{settings.PATH_PREFIX}ws/records/", RecordsConsumer.as_asgi()),
    path(f"{settings.PATH_PREFIX}ws/contents/", ContentsConsumer.as_asgi()),
]
