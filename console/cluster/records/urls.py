"""The routes below /topics/<name>/+records/…."""

from django.urls import path

from console.cluster.records import copy_views, record_views, views

urlpatterns = [
    path("<str:name>/+records/", views.record_list, name="topic-records"),
    path("<str:name>/+records/histogram/", views.histogram, name="topic-records-histogram"),
    path("<str:name>/+records/export/", views.export, name="topic-records-export"),
    path("<str:name>/+records/export/count/", views.export_count, name="topic-records-export-count"),
    path("<str:name>/+records/compare/", record_views.compare_records, name="topic-records-compare"),
    path("<str:name>/+records/<int:partition>/<int:offset>/", record_views.record_page, name="topic-record"),
    path("<str:name>/+records/<int:partition>/<int:offset>/+copy/", copy_views.copy, name="topic-record-copy"),
    path(
        "<str:name>/+records/<int:partition>/<int:offset>/+tombstone/",
        copy_views.tombstone,
        name="topic-record-tombstone",
    ),
    path("<str:name>/+produce/", views.produce, name="topic-produce"),
]
