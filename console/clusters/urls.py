"""The overview, and the two addresses that need no login."""

from django.urls import path

from console.clusters import views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", views.metrics, name="metrics"),
]
