"""Cost of the metrics, including TBAT as published and as computed here (Table I.1)."""
