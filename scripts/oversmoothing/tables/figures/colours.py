"""Colours of figures and of the charts of the page."""

PALETTE = (  # "colorblind" of seaborn
    *("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc"),
    *("#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"),
)
RED = "#c1272d"  # the byte that follows
