"""/clusters/"""

from django.urls import path

from console.fleet import compare_views, views

urlpatterns = [
    path("", views.clusters, name="clusters"),
    path("+compare/", compare_views.cluster_compare, name="cluster-compare"),
    path("+switch/<str:cluster>/", views.switch, name="cluster-switch"),
]
