"""The routes below /quotas/."""

from django.urls import path

from console.cluster.quotas import views

urlpatterns = [
    path("", views.quota_list, name="quotas"),
    path("+try/", views.quota_try, name="quota-try"),
    path("+change/", views.quota_change, name="quota-change"),
]
