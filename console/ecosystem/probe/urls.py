"""/probe/, and the page for everybody"""

from django.urls import path

from console.ecosystem.probe import public_views, views

urlpatterns = [
    path("probe/", views.probe_page, name="probe"),
    path("status/", public_views.status_page, name="status"),
]
