"""Ground floor: verdicts, findings, codes, units, host lists, time, files and errors."""
