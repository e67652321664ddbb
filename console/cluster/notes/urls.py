"""The routes below /topics/<name>/+about/."""

from django.urls import path

from console.cluster.notes import views

urlpatterns = [path("<str:name>/+about/", views.about, name="topic-about")]
