"""The gate is put before every plan as soon as Django is ready."""

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "console.shell.changes"

    def ready(self) -> None:
        from console.kit.plans.gate import set_gate
        from console.shell.changes.deciding import RulesGate

        set_gate(RulesGate())
