"""Which windows of topics are complete at every tier of the message audit: counted by others, judged here, shown."""
