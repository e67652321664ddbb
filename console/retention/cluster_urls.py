"""/retention/"""

from django.urls import path

from console.retention import cluster_views

urlpatterns = [path("", cluster_views.cluster_retention, name="retention")]
