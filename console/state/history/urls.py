"""The routes below /history/ and /topics/<name>/+history/."""

from django.urls import path

from console.state.history import views

urlpatterns = [
    path("history/", views.history, name="history"),
    path("consumers/<group:group>/+changes/", views.group_changes, name="group-changes"),
    path("topics/<str:name>/+history/", views.topic_history, name="topic-history"),
]
