"""The list, one process, its log, and what can be done to it."""

from django.urls import path

from console.processes import change_views, ending_views, views

urlpatterns = [
    path("", views.process_list, name="processes"),
    path("no-question", views.no_question, name="process-no-question"),
    path("+add-broker/", change_views.add_broker, name="process-add-broker"),
    path("<slug:name>/", views.process_page, name="process"),
    path("<slug:name>/log", views.process_log, name="process-log"),
    path("<slug:name>/start", views.start, name="process-start"),
    path("<slug:name>/stop", ending_views.stop, name="process-stop"),
    path("<slug:name>/restart", ending_views.restart, name="process-restart"),
    path("<slug:name>/kill", ending_views.kill, name="process-kill"),
    path("<slug:name>/remove", change_views.remove, name="process-remove"),
    path("<slug:name>/restart-always", change_views.restart_always, name="process-restart-always"),
    path("<slug:name>/restart-never", change_views.restart_never, name="process-restart-never"),
    path("<slug:name>/question/<slug:action>", ending_views.question, name="process-question"),
]
