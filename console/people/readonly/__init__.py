"""Read-only mode: its page, its switch, and the guard before every view."""
