"""The routes below /declaration/…."""

from django.urls import path

from console.automation.declared import views

urlpatterns = [
    path("", views.declaration, name="declaration"),
    path("+export/", views.export, name="declaration-export"),
]
