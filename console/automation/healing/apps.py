"""The app."""

from django.apps import AppConfig


class HealingConfig(AppConfig):
    name = "console.automation.healing"
