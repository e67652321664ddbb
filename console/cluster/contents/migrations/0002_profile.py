"""What was counted is called as everywhere: the topic's profile."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("contents", "0001_squashed_0002_counted_topic_id"),
    ]

    operations = [
        migrations.RenameField(model_name="counted", old_name="found", new_name="profile"),
    ]
