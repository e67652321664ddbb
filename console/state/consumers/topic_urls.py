"""The routes below /topics/<name>/+consumers/."""

from django.urls import path

from console.state.consumers import views

urlpatterns = [path("<str:name>/+consumers/", views.topic_consumers, name="topic-consumers")]
