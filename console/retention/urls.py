"""/topics/<name>/+retention/"""

from django.urls import path

from console.retention import views

urlpatterns = [
    path("<str:name>/+retention/", views.retention, name="topic-retention"),
    path("<str:name>/+configure/", views.configure, name="topic-configure"),
]
