"""The routes below /placement/."""

from django.urls import path

from console.cluster.placement import change_views, views, what_if_views

urlpatterns = [
    path("", views.placement, name="placement"),
    path("+elect/", views.elect, name="elect-leaders"),
    path("+move/", change_views.move, name="move-partitions"),
    path("+what-if/", what_if_views.what_if, name="what-if"),
    path("+call-off/", change_views.call_off, name="call-off-moves"),
]
