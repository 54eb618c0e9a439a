"""Tables and figures: records, pages in four formats, comparison with what is published."""
