"""What a rule says is its definition."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("changes", "0001_squashed_0002_forget_forms"),
    ]

    operations = [
        migrations.RenameField(model_name="changerule", old_name="said", new_name="definition"),
    ]
