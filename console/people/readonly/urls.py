"""The routes below /read-only/."""

from django.urls import path

from console.people.readonly import views

urlpatterns = [
    path("read-only/", views.read_only, name="read-only"),
    path("read-only/+switch/", views.switch, name="read-only-switch"),
]
