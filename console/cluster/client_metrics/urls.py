"""The routes below /client-metrics/."""

from django.urls import path

from console.cluster.client_metrics import views

urlpatterns = [
    path("", views.subscription_list, name="client-metrics"),
    path("+change/", views.subscription_change, name="client-metrics-change"),
]
