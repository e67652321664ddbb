"""The routes below /dependencies/."""

from django.urls import path

from console.signals.dependencies import views

urlpatterns = [path("", views.dependencies, name="dependencies")]
