"""What hangs on what: who writes a topic, who reads it, and what comes of that further on."""
