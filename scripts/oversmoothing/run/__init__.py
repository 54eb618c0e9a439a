"""A run of the workflow as it is seen: what it needs, how far it is, why it failed."""
