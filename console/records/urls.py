"""/topics/<name>/+records/…"""

from django.urls import path

from console.records import views

urlpatterns = [
    path("<str:name>/+records/", views.record_list, name="topic-records"),
    path("<str:name>/+records/<int:partition>/<int:offset>/", views.record_page, name="topic-record"),
    path("<str:name>/+produce/", views.produce, name="topic-produce"),
]
