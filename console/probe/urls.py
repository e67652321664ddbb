"""/probe/"""

from django.urls import path

from console.probe import views

urlpatterns = [path("", views.probe_page, name="probe")]
