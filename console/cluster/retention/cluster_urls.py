"""The routes below /retention/."""

from django.urls import path

from console.cluster.retention import cluster_views

urlpatterns = [path("", cluster_views.cluster_retention, name="retention")]
