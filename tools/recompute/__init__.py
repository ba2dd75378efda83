"""An independent recomputation of a run, from its raw records up.

Shares no code with the package: records are read as JSON, and what follows is made again with
pandas and scipy alone, from what the documentation says, so that a fault of the package cannot
hide in both. `tables` holds the tables of repetitions, the summary and the ratios against it;
`text` the report: `document` takes it apart, `sentences` has what each form of sentence has to say
in a file per template, `report_tables` what each field has to show.

`python -m tools.recompute results` ends with how many of the report's numbers were checked, and in
which sections how many are not recomputed. Most of these are of the expectations (question 6), the
quality tables, the profile and the published runs. `--power` changes each number that agrees by
7 % (counts by one at least) and tells how many of the changed ones are found: of a default run
91 % in sentences and 99 % in tables, of the tiny one 85 % and 95 %. Those that are not found are
mostly ends of bootstrap intervals, which may differ by five standard errors of the resampling, and
wide ones.
"""
