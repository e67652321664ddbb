"""The routes below /brokers/."""

from django.urls import path

from console.cluster.brokers import directory_views, settings_views, views

urlpatterns = [
    path("", views.broker_list, name="brokers"),
    path("<int:broker_id>/", views.broker_page, name="broker"),
    path("<int:broker_id>/partitions/", views.broker_partitions, name="broker-partitions"),
    path("<int:broker_id>/directories/", directory_views.directories, name="broker-directories"),
    path("<int:broker_id>/settings/", settings_views.broker_settings, name="broker-settings"),
    path("<int:broker_id>/set/", settings_views.change, name="broker-set"),
]
