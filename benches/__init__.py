"""Benchmarks of the engines; `python -m benches --help` tells what there is."""
