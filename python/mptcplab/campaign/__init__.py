"""Campaigns: every point of a sweep, run into one folder that can be taken up again.

The folder has one file that describes it, and Parquet files with the figures of many runs each: a
campaign of 100,000 runs is some hundred files. What is not yet a Parquet file is in journals, a
line a run, so that no moment of a kill loses more than the runs that were under way.
"""
