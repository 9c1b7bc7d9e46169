"""A network of the kernel engine in which programs of one's own run until they are ended."""
