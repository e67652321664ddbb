"""What was cancelled is called off, as every operation is."""

from django.db import migrations, models


def rename_state(apps, schema_editor):
    apps.get_model("rolling", "RollingRestart").objects.filter(state="cancelled").update(state="called off")


def name_state_as_before(apps, schema_editor):
    apps.get_model("rolling", "RollingRestart").objects.filter(state="called off").update(state="cancelled")


class Migration(migrations.Migration):
    dependencies = [("rolling", "0001_initial")]

    operations = [
        migrations.AlterModelOptions("rollingrestart", {"ordering": ["-id"], "verbose_name": "rolling restart"}),
        migrations.AlterField(
            model_name="rollingrestart",
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
    ]
