"""What is measured of a model, position by position, and how it becomes a number: each measure declared once."""
