"""Coming in and going out, people and their rights."""

from django.urls import path

from console.access import read_only_views, user_views, views

urlpatterns = [
    path("login/", views.log_in, name="login"),
    path("logout/", views.log_out, name="logout"),
    path("password/", user_views.own_password, name="own-password"),
    path("read-only/", read_only_views.read_only, name="read-only"),
    path("read-only/+switch/", read_only_views.switch, name="read-only-switch"),
    path("users/", user_views.user_list, name="users"),
    path("users/+create/", user_views.user_create, name="user-create"),
    path("users/<int:number>/", user_views.user_page, name="user"),
    path("users/<int:number>/+password/", user_views.user_password, name="user-password"),
    path("users/<int:number>/+logins/", user_views.user_logins, name="user-logins"),
]
