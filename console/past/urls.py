"""/history/at/"""

from django.urls import path

from console.past import views

urlpatterns = [
    path("", views.past, name="past"),
    path("topics/<str:name>/", views.past_topic, name="past-topic"),
]
