"""The tests of minigrad: laws that hold in every mode, from one table (see CONTRIBUTING.md)."""
