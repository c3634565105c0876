"""Tests of the vectorised mode."""
