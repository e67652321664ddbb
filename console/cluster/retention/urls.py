"""/topics/<name>/+retention/ and what lies beside it"""

from django.urls import path

from console.cluster.retention import purge_views, segment_views, views

urlpatterns = [
    path("<str:name>/+retention/", views.retention, name="topic-retention"),
    path("<str:name>/+configure/", views.configure, name="topic-configure"),
    path("<str:name>/+segments/<int:partition>/", segment_views.segments, name="topic-segments"),
    path("<str:name>/+purge/", purge_views.purge, name="topic-purge"),
]
