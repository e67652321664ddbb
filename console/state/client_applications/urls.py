"""The routes below /client-applications/."""

from django.urls import path

from console.state.client_applications import views

urlpatterns = [path("", views.client_applications, name="client-applications")]
