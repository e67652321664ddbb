"""The routes below /completeness/."""

from django.urls import path

from console.ecosystem.completeness import delivery_views, views

urlpatterns = [
    path("", views.completeness, name="completeness"),
    path("+delivery/", delivery_views.delivery, name="delivery"),
    path("<str:name>/", views.completeness_topic, name="completeness-topic"),
    path("<str:name>/+delivery/", delivery_views.topic_delivery, name="topic-delivery"),
]
