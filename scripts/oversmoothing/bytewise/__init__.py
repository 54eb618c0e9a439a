"""Exact next-byte distributions of a language model over tokens."""
