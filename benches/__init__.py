"""Benchmarks of the kernel engine; `python -m benches --help` tells what there is."""
