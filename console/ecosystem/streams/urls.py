"""/streams/: the list, the form of a new job, one job and what is done to it."""

from django.urls import path

from console.ecosystem.streams import change_views, views

urlpatterns = [
    path("", views.stream_list, name="streams"),
    path("+add/", change_views.choose_job, name="stream-choose"),
    path("+add/<slug:job>/", change_views.add, name="stream-add"),
    path("<slug:name>/", views.stream_page, name="stream"),
    path("<slug:name>/+charts/", views.stream_charts, name="stream-charts"),
    path("<slug:name>/start", change_views.start, name="stream-start"),
    path("<slug:name>/reset", change_views.reset, name="stream-reset"),
    path("<slug:name>/remove", change_views.remove, name="stream-remove"),
]
