"""The routes below /processes/+decommission/."""

from django.urls import path

from console.automation.decommission import views

urlpatterns = [
    path("<slug:name>/", views.decommission, name="decommission"),
    path("<slug:name>/resume", views.resume, name="decommission-resume"),
    path("<slug:name>/call-off", views.call_off, name="decommission-call-off"),
]
