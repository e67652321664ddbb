"""The routes below /kafka-users/."""

from django.urls import path

from console.cluster.credentials import views

urlpatterns = [
    path("", views.user_list, name="credentials"),
    path("+create/", views.create, name="credential-create"),
    path("<int:number>/+password/", views.password, name="credential-password"),
    path("<int:number>/+delete/", views.delete, name="credential-delete"),
]
