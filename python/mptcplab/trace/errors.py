"""What can be wrong with an analysis."""


class TraceError(Exception):
    """A capture cannot be analysed, or its tables cannot be read: says where, why and the mend."""
