"""The routes below /topics/<name>/+clients/."""

from django.urls import path

from console.state.client_applications import views

urlpatterns = [path("<str:name>/+clients/", views.clients_of_topic, name="topic-clients")]
