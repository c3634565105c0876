"""Speed and memory of minigrad beside micrograd: ``python -m tests.benchmarks --help``."""
