"""The studies: one folder each, with its rules, settings, measurements, table, figure, claims and chapter."""
