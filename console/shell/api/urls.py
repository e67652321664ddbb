"""/api/v1/ and the page of one's own tokens."""

from django.urls import path

from console.shell.api import events, mcp, metrics, token_views, views

urlpatterns = [
    path("api/v1/openapi.json", views.openapi, name="api-description"),
    path("api/v1/events", events.events, name="api-events"),
    path("api/v1/metrics", metrics.metrics, name="api-metrics"),
    path("api/v1/mcp", mcp.mcp, name="api-mcp"),
    path("api/v1/<path:rest>", views.operation, name="api"),
    path("tokens/", token_views.tokens, name="tokens"),
    path("tokens/+make/", token_views.make, name="token-make"),
    path("tokens/<int:number>/+end/", token_views.end, name="token-end"),
]
