"""The studies: what each one measures, its table, facts and figures."""
