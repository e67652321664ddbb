"""The routes below /topics/<name>/+protections/…."""

from django.urls import path

from console.cluster.protections import views

urlpatterns = [
    path("<str:name>/+protections/<int:number>/+remove/", views.remove, name="topic-protection-remove"),
]
