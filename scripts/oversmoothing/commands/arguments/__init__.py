"""Arguments of the commands that run models, read and checked before PyTorch is imported: a module for each."""
