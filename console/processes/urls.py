"""The list, one process, its log, and what can be done to it."""

from django.urls import path

from console.processes import views

urlpatterns = [
    path("", views.process_list, name="processes"),
    path("no-question", views.no_question, name="process-no-question"),
    path("<slug:name>/", views.process_page, name="process"),
    path("<slug:name>/log", views.process_log, name="process-log"),
    path("<slug:name>/start", views.start, name="process-start"),
    path("<slug:name>/stop", views.stop, name="process-stop"),
    path("<slug:name>/restart", views.restart, name="process-restart"),
    path("<slug:name>/question/<slug:action>", views.process_question, name="process-question"),
]
