"""The routes below /consumers/."""

from django.urls import path, register_converter

from console.kit.common.any_name import AnyNameConverter
from console.state.consumers import change_views, many_views, views

register_converter(AnyNameConverter, "group")

urlpatterns = [
    path("", views.group_list, name="consumers"),
    path("+prepare/", change_views.prepare, name="group-prepare"),
    path("+many/", many_views.many, name="groups-many"),
    path("<group:group>/", views.group_page, name="group"),
    path("<group:group>/+reset/", change_views.reset, name="group-reset"),
    path("<group:group>/+delete/", change_views.delete, name="group-delete"),
    path("<group:group>/+forget/", change_views.forget, name="group-forget"),
]
