"""What a cluster shall be like, as files: compared with what it is, shown as one plan, carried out in order."""
