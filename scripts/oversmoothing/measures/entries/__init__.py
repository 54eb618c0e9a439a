"""The measures, each in a module of its own, which `oversmoothing.measures.catalogue` finds here."""
