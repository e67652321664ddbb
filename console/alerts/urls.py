"""/alerts/"""

from django.urls import path

from console.alerts import views

urlpatterns = [
    path("", views.alerts, name="alerts"),
    path("<int:number>/acknowledge", views.acknowledge, name="alert-acknowledge"),
    path("rules/<str:rule>/silence", views.silence, name="alert-silence"),
    path("channels/<str:channel>/test", views.test_channel, name="alert-test"),
]
