"""The routes below /topics/<name>/+contents/."""

from django.urls import path

from console.cluster.contents import views

urlpatterns = [path("<str:name>/+contents/", views.contents, name="topic-contents")]
