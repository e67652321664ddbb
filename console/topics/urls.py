"""/topics/… A topic may be named `create`, so the form lives where no topic name can be: a name has no `+`."""

from django.urls import path

from console.topics import views

urlpatterns = [
    path("", views.topic_list, name="topics"),
    path("+create/", views.topic_create, name="topic-create"),
    path("<str:name>/", views.topic_detail, name="topic"),
    path("<str:name>/+delete/", views.topic_delete, name="topic-delete"),
]
