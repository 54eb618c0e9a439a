"""Mistakes of the user, found before anything runs: in the config, in its files, in the paths that it names."""
