"""Logging in by the provider's word; the second address is the one the provider has to know."""

from django.urls import path

from console.people.sso import views

urlpatterns = [
    path("login/sso/", views.set_out, name="sso-login"),
    path("login/sso/callback/", views.come_back, name="sso-callback"),
    path("logout/sso/", views.leave, name="sso-logout"),
]
