"""What the commands about consumer groups compute and print."""
