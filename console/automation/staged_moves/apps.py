"""The app under the label of its tables."""

from django.apps import AppConfig


class StagedMovesConfig(AppConfig):
    name = "console.automation.staged_moves"
    label = "staged"
