"""The routes below /views/…."""

from django.urls import path

from console.kit.tables import views

urlpatterns = [
    path("", views.view_list, name="views"),
    path("+save/", views.save, name="view-save"),
    path("+arrange/", views.arrange, name="table-arrange"),
    path("+density/", views.set_density, name="density"),
    path("<int:number>/", views.open_view, name="view"),
    path("<int:number>/+change/", views.change, name="view-change"),
    path("<int:number>/+delete/", views.delete, name="view-delete"),
]
