"""The routes below /schemas/."""

from django.urls import path, register_converter

from console.cluster.schemas import change_views, restore, views
from console.kit.common.any_name import AnyNameConverter

register_converter(AnyNameConverter, "subject")

urlpatterns = [
    path("", views.subject_list, name="schemas"),
    path("+id/<int:number>/", views.schema_of_id, name="schema-id"),
    path("+register/", change_views.register, name="schema-register"),
    path("+defaults/", change_views.defaults, name="schema-defaults"),
    path("<subject:subject>/", views.subject_page, name="schema-subject"),
    path("<subject:subject>/+settings/", change_views.subject_settings, name="schema-settings"),
    path("<subject:subject>/+delete/", change_views.delete, name="schema-delete"),
    path("<subject:subject>/+restore/", restore.restore, name="schema-restore"),
]
