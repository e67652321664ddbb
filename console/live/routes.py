"""The one websocket address."""

from django.urls import path

from console.live.consumers import PageConsumer

websocket_urlpatterns = [path("ws/live/", PageConsumer.as_asgi())]
