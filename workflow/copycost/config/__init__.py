"""The checked configuration: sections as typed values, checks, and the cells it asks for."""
