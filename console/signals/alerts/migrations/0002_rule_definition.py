"""What a rule of the page says is its definition."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("alerts", "0001_squashed_0002_kept_rules"),
    ]

    operations = [
        migrations.RenameField(model_name="keptrule", old_name="said", new_name="definition"),
    ]
