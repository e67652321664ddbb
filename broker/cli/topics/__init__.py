"""What the commands about topics compute and print."""
