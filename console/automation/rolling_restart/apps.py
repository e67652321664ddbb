"""The app."""

from django.apps import AppConfig


class RollingRestartConfig(AppConfig):
    name = "console.automation.rolling_restart"
