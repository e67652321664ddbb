"""/topics/<name>/+settings/"""

from django.urls import path

from console.configuration import views

urlpatterns = [
    path("<str:name>/+settings/", views.topic_settings, name="topic-settings"),
    path("<str:name>/+set/", views.change, name="topic-set"),
]
