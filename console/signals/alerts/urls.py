"""The routes below /alerts/."""

from django.urls import path

from console.signals.alerts import channel_views, rule_views, views

urlpatterns = [
    path("", views.alerts, name="alerts"),
    path("<int:number>/acknowledge", views.acknowledge, name="alert-acknowledge"),
    path("+channel/", channel_views.add, name="alert-channel-add"),
    path("+rule/", rule_views.add, name="alert-rule-add"),
    path("rules/<str:rule>/+change/", rule_views.change, name="alert-rule-change"),
    path("rules/<str:rule>/+remove/", rule_views.remove, name="alert-rule-remove"),
    path("rules/<str:rule>/silence", views.silence, name="alert-silence"),
    path("channels/<str:channel>/test", views.test_channel, name="alert-test"),
]
