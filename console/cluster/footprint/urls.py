"""The routes below /footprint/."""

from django.urls import path

from console.cluster.footprint import views

urlpatterns = [path("", views.footprint, name="footprint")]
