"""What retention deletes from a topic, now and under changed settings, and the change itself: plan, diff, apply."""
