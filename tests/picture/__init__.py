"""Tests of the pictures; `fakes` has the graphs they draw."""
