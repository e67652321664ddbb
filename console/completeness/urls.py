"""/completeness/"""

from django.urls import path

from console.completeness import views

urlpatterns = [
    path("", views.completeness, name="completeness"),
    path("<str:name>/", views.completeness_topic, name="completeness-topic"),
]
