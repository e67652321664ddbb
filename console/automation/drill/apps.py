"""The app."""

from django.apps import AppConfig


class DrillConfig(AppConfig):
    name = "console.automation.drill"
