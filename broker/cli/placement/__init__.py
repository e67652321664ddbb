"""What the commands that elect, move and compare replicas compute and print."""
