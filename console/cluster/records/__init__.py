"""The messages of a topic: reading at a place, searching, following live, and producing one."""
