"""What is started follows from kind and spec: whoever can write the database must not be able to say what runs."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("processes", "0003_memory_of_a_family")]

    operations = [
        migrations.RemoveField("managedprocess", name)
        for name in ("argv", "env", "working_dir", "data_dir", "log_path")
    ]
