"""/topics/… A topic may be named `create`, so the form lives where no topic name can be: a name has no `+`."""

from django.urls import path

from console.cluster.topics import change_views, grace_views, many_views, settings_views, size_views, views

urlpatterns = [
    path("", views.topic_list, name="topics"),
    path("+create/", change_views.topic_create, name="topic-create"),
    path("+many/", many_views.many, name="topics-many"),
    path("+planned/", grace_views.planned, name="topics-planned"),
    path("+keep/", grace_views.call_off, name="topics-keep"),
    path("+size/", size_views.topic_size, name="topic-size"),
    path("<str:name>/", views.topic_detail, name="topic"),
    path("<str:name>/+delete/", change_views.topic_delete, name="topic-delete"),
    path("<str:name>/+partitions/", change_views.topic_add_partitions, name="topic-add-partitions"),
    path("<str:name>/+settings/", settings_views.topic_settings, name="topic-settings"),
    path("<str:name>/+set/", settings_views.change, name="topic-set"),
]
