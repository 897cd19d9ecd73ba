"""Pure parsers of other tools' output: text in, records and refusals out; they never raise on content."""
