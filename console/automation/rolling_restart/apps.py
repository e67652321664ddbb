"""The app under the label that its tables and migrations were made with."""

from django.apps import AppConfig


class RollingRestartConfig(AppConfig):
    name = "console.automation.rolling_restart"
    label = "rolling"
