"""Access lists: who may do what with which resource and why, what a change would come to, and who was denied what."""
