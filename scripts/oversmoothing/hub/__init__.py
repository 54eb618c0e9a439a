"""Files of the hub: what is fetched, its names, its listings and its revisions."""
