"""What every command is made of: its declaration, and all that follows from it."""
