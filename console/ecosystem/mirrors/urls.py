"""The routes below /mirrors/."""

from django.urls import path

from console.ecosystem.mirrors import group_views, views

urlpatterns = [
    path("", views.mirrors_page, name="mirrors"),
    path("groups/", group_views.move_group, name="mirror-group-move"),
    path("<int:number>/charts/", views.mirror_charts, name="mirror-charts"),
]
