"""The routes below /history/at/."""

from django.urls import path

from console.cluster.past import band_views, views

urlpatterns = [
    path("", views.past, name="past"),
    path("topics/<str:name>/", views.past_topic, name="past-topic"),
    path("topics/<str:name>/bands/", band_views.bands_of_topic, name="past-bands"),
]
