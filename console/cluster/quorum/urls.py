"""The routes below /quorum/."""

from django.urls import path

from console.cluster.quorum import views

urlpatterns = [path("", views.quorum, name="quorum")]
