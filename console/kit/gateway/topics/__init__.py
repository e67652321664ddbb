"""Topics: settings and which values they take, bounds of logs, what stayed as it was."""
