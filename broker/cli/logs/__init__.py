"""What the commands that look into logs print."""
