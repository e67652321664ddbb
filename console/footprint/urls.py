"""/footprint/"""

from django.urls import path

from console.footprint import views

urlpatterns = [path("", views.footprint, name="footprint")]
