"""Coming in and going out, people and their rights."""

from django.urls import path

from console.people.users import login_views, views

urlpatterns = [
    path("login/", login_views.log_in, name="login"),
    path("logout/", login_views.log_out, name="logout"),
    path("password/", views.own_password, name="own-password"),
    path("users/", views.user_list, name="users"),
    path("users/+create/", views.user_create, name="user-create"),
    path("users/<int:number>/", views.user_page, name="user"),
    path("users/<int:number>/+password/", views.user_password, name="user-password"),
    path("users/<int:number>/+logins/", views.user_logins, name="user-logins"),
]
