"""The report: templates filled from facts and tables, and typeset to HTML and PDF."""
