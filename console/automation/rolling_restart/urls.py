"""The routes below /processes/+rolling-restart/."""

from django.urls import path

from console.automation.rolling_restart import views

urlpatterns = [
    path("", views.rolling_restart, name="rolling-restart"),
    path("<int:number>/pause", views.pause, name="rolling-restart-pause"),
    path("<int:number>/resume", views.resume, name="rolling-restart-resume"),
    path("<int:number>/call-off", views.call_off, name="rolling-restart-call-off"),
]
