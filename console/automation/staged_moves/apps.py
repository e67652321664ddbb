"""The app."""

from django.apps import AppConfig


class StagedMovesConfig(AppConfig):
    name = "console.automation.staged_moves"
