"""The gate is put before every plan as soon as Django is ready."""

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "console.changes"

    def ready(self) -> None:
        from console.changes.deciding import RulesGate
        from console.plans.gate import set_gate

        set_gate(RulesGate())
