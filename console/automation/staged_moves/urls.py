"""The routes below /placement/+staged/."""

from django.urls import path

from console.automation.staged_moves import views

urlpatterns = [
    path("", views.stage, name="staged-move"),
    path("<int:number>/pause", views.pause, name="staged-move-pause"),
    path("<int:number>/resume", views.resume, name="staged-move-resume"),
    path("<int:number>/call-off", views.call_off, name="staged-move-call-off"),
    path("<int:number>/cancel/", views.cancel, name="staged-move-cancel"),
    path("<int:number>/throttle/", views.throttle, name="staged-move-throttle"),
]
