"""The overview, what is quiet of health, and the two addresses that need no login."""

from django.urls import path

from console.signals.overview import quiet_views, views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("health/", quiet_views.quiet_list, name="health"),
    path("health/quiet", quiet_views.quieten, name="health-quiet"),
    path("health/<int:number>/undo", quiet_views.speak_again, name="health-undo"),
    path("healthz", views.healthz, name="healthz"),
    path("metrics", views.metrics, name="metrics"),
]
