"""Changes in many steps: planned by an operator, declared in files, or proposed by the console itself."""
