"""A departure is a decommission, with the states of every operation; that its end has begun is a column of its own."""

from django.db import migrations, models

OPEN = models.Q(("state__in", ["running", "paused"]))


def rename_states(apps, schema_editor):
    rows = apps.get_model("departures", "Decommission").objects
    rows.filter(state="stopping").update(state="running", is_stopping=True)
    rows.filter(state="draining").update(state="running")


def name_states_as_before(apps, schema_editor):
    rows = apps.get_model("departures", "Decommission").objects
    rows.filter(state="running", is_stopping=True).update(state="stopping")
    rows.filter(state="running").update(state="draining")


class Migration(migrations.Migration):
    dependencies = [("departures", "0001_departures")]

    operations = [
        migrations.RemoveConstraint("departure", "one_departure_of_a_broker"),
        migrations.RenameModel("Departure", "Decommission"),
        migrations.AddField("decommission", "is_stopping", models.BooleanField(default=False)),
        migrations.RunPython(rename_states, name_states_as_before),
        migrations.AlterField(
            model_name="decommission",
            name="state",
            field=models.CharField(
                choices=[
                    ("running", "Running"),
                    ("paused", "Paused"),
                    ("done", "Done"),
                    ("called off", "Called Off"),
                ],
                default="running",
                max_length=12,
            ),
        ),
        migrations.AddConstraint(
            "decommission",
            models.UniqueConstraint(models.F("name"), condition=OPEN, name="one_decommission_of_a_broker"),
        ),
    ]
