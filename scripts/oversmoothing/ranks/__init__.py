"""What rank a model's representations really use: drawn rows, their singular values, Table 7.3."""
