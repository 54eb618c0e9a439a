"""What decides whether a job runs again: the code of its script, its settings, and what the user's files hold."""
