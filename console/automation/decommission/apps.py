"""The app under the label that its tables and migrations were made with."""

from django.apps import AppConfig


class DecommissionConfig(AppConfig):
    name = "console.automation.decommission"
    label = "departures"
