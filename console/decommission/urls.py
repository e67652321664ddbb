"""/processes/+departures/"""

from django.urls import path

from console.decommission import views

urlpatterns = [
    path("<slug:name>/", views.departure, name="departure"),
    path("<slug:name>/resume", views.resume, name="departure-resume"),
    path("<slug:name>/call-off", views.call_off, name="departure-call-off"),
]
