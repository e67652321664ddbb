"""The routes below /clusters/."""

from django.urls import path

from console.shell.fleet import change_views, compare_views, views

urlpatterns = [
    path("", views.clusters, name="clusters"),
    path("+add/", change_views.add, name="cluster-add"),
    path("+change/<str:cluster>/", change_views.change, name="cluster-change"),
    path("+remove/<str:cluster>/", change_views.remove, name="cluster-remove"),
    path("+afresh/<str:cluster>/", change_views.afresh, name="cluster-afresh"),
    path("+compare/", compare_views.cluster_compare, name="cluster-compare"),
    path("+switch/<str:cluster>/", views.switch, name="cluster-switch"),
]
