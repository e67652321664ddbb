"""The routes below /zookeeper/."""

from django.urls import path

from console.cluster.zookeeper import change_views, settings_views, views

urlpatterns = [
    path("", views.ensemble, name="zookeeper"),
    path("znodes/", views.znodes, name="zookeeper-znodes"),
    path("change/", change_views.change, name="ensemble-change"),
    path("settings/", settings_views.settings, name="zookeeper-settings"),
    path("changes/<int:number>/call-off", change_views.call_off, name="ensemble-call-off"),
]
