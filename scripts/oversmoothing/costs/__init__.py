"""What the metrics cost, and TBAT as published beside TBAT as computed here (Table I.1)."""
