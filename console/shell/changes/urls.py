"""The routes below /changes/…."""

from django.urls import path

from console.shell.changes import rule_views, views

urlpatterns = [
    path("", views.changes, name="changes"),
    path("<int:number>/", views.change, name="change"),
    path("<int:number>/+approve/", views.approve, name="change-approve"),
    path("<int:number>/+discard/", views.discard, name="change-discard"),
    path("+rules/add/", rule_views.add, name="change-rule-add"),
    path("+rules/<str:rule>/", rule_views.change, name="change-rule"),
    path("+rules/<str:rule>/+remove/", rule_views.remove, name="change-rule-remove"),
]
