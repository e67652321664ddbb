"""Coming in and going out."""

from django.urls import path

from console.access import views

urlpatterns = [
    path("login/", views.log_in, name="login"),
    path("logout/", views.log_out, name="logout"),
]
