"""What was cancelled is called off, as every operation is."""

from django.db import migrations, models

OPEN = models.Q(("state__in", ["running", "paused"]))


def rename_state(apps, schema_editor):
    apps.get_model("zookeeper", "EnsembleChange").objects.filter(state="cancelled").update(state="called off")


def name_state_as_before(apps, schema_editor):
    apps.get_model("zookeeper", "EnsembleChange").objects.filter(state="called off").update(state="cancelled")


class Migration(migrations.Migration):
    dependencies = [("zookeeper", "0001_ensemble_changes")]

    operations = [
        migrations.AlterModelOptions("ensemblechange", {"ordering": ["-id"], "verbose_name": "change of ensemble"}),
        migrations.RemoveConstraint("ensemblechange", "one_ensemble_change_at_a_time"),
        migrations.AlterField(
            model_name="ensemblechange",
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
        migrations.RunPython(rename_state, name_state_as_before),
        migrations.AddConstraint(
            "ensemblechange",
            models.UniqueConstraint(models.Value(1), condition=OPEN, name="one_ensemble_change_at_a_time"),
        ),
    ]
