"""/topics/<name>/+records/…"""

from django.urls import path

from console.records import copy_views, views

urlpatterns = [
    path("<str:name>/+records/", views.record_list, name="topic-records"),
    path("<str:name>/+records/<int:partition>/<int:offset>/", views.record_page, name="topic-record"),
    path("<str:name>/+records/<int:partition>/<int:offset>/+copy/", copy_views.copy, name="topic-record-copy"),
    path(
        "<str:name>/+records/<int:partition>/<int:offset>/+tombstone/",
        copy_views.tombstone,
        name="topic-record-tombstone",
    ),
    path("<str:name>/+produce/", views.produce, name="topic-produce"),
]
