"""What there is to measure and to decode with, each thing declared once."""
