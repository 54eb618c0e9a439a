"""The peak learning rate of each arm of the family, chosen on a seed that nothing else uses."""
