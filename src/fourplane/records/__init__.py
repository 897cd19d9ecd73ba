"""Records: what was seen, of what, when, how, and in which raw file it can be read again."""
