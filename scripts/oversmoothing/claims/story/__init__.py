"""The story page: what was asked, what was found, and the evidence, on one web page that needs no network."""
