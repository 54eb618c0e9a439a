"""Two models over one text, in this process: from their names to a record of everything that is measured."""
