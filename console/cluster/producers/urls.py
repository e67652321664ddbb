"""The routes below /topics/<name>/+producers/."""

from django.urls import path

from console.cluster.producers import views

urlpatterns = [
    path("<str:name>/+producers/", views.producers, name="topic-producers"),
    path("<str:name>/+producers/<int:partition>/<int:offset>/+abort/", views.abort, name="topic-abort"),
]
