"""The websocket addresses of all features."""

from django.conf import settings
from django.urls import path
from django.utils.module_loading import import_string

from console.kit.features.listed import features

websocket_urlpatterns = [
    path(f"{settings.PATH_PREFIX}{socket.path}", import_string(socket.consumer).as_asgi())
    for feature in features()
    for socket in feature.sockets
]
