"""The laws of the scalar engine."""
