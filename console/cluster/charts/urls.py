"""/charts/, and the charts of each object beside its other pages."""

from django.urls import path

from console.cluster.charts import views

urlpatterns = [
    path("charts/", views.cluster_charts, name="charts"),
    path("topics/<str:name>/+charts/", views.topic_charts, name="topic-charts"),
    path("brokers/<int:broker_id>/charts/", views.broker_charts, name="broker-charts"),
    path("consumers/<group:group>/+charts/", views.group_charts, name="group-charts"),
    path("processes/<slug:name>/+charts/", views.process_charts, name="process-charts"),
    path("zookeeper/+charts/<str:address>/", views.server_charts, name="server-charts"),
]
