"""The app."""

from django.apps import AppConfig


class DecommissionConfig(AppConfig):
    name = "console.automation.decommission"
