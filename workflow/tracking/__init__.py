"""What decides whether a job runs again: the code of its script, its settings, and the contents of the user's files."""
