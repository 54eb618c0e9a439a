"""Checks for user mistakes before anything runs: in the config, its files, and the paths that it names."""
