"""The routes below /connectors/."""

from django.urls import path, register_converter

from console.ecosystem.connectors import change_views, form_views, offset_views, views
from console.kit.common.any_name import AnyNameConverter

# Connect, too, allows any text.
register_converter(AnyNameConverter, "connector")

urlpatterns = [
    path("", views.connector_list, name="connectors"),
    path("+create/", form_views.choose, name="connector-choose"),
    path("+create/<str:plugin>/", form_views.create, name="connector-create"),
    path("<connector:name>/", views.connector_page, name="connector"),
    path("<connector:name>/+details/", views.details, name="connector-details"),
    path("<connector:name>/+charts/", views.connector_charts, name="connector-charts"),
    path("<connector:name>/+configure/", form_views.configure, name="connector-configure"),
    path("<connector:name>/+delete/", change_views.delete, name="connector-delete"),
    path("<connector:name>/+offsets/", offset_views.alter, name="connector-offsets"),
    path("<connector:name>/+reset-offsets/", offset_views.reset, name="connector-reset-offsets"),
    path("<connector:name>/+tasks/<int:task>/+restart/", change_views.restart_task, name="connector-restart-task"),
    path("<connector:name>/+do/<slug:deed>/", change_views.do, name="connector-do"),
]
