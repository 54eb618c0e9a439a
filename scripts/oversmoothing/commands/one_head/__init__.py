"""What a softmax bottleneck does to one published model: its head, and what passes it on a text."""
