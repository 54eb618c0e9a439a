"""Names of the truths and of what they are held against; imports nothing, so that the plan may read it."""

MEMORIES = ("neural", "ngram", "neighbours")  # one of them mixed with the model
ALL = "all"  # all of them mixed with the model
SHUFFLED = "shuffled"  # the same, with the past of another document
LONGER = "longer"  # the model after all the text, which is held against the model after a short context
FLATTER = "flatter"  # the model at a temperature
MODEL, SHORT = "model", "short"  # the model, after all the text and after a short context
