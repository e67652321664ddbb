"""The routes below /find/."""

from django.urls import path

from console.shell.palette import views

urlpatterns = [path("find/", views.results, name="find")]
